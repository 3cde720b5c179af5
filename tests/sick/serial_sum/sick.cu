// y[r] = sum over c of x[r, c]^2: a block a row.
extern "C" __global__ void squares(const float4* x, float* y, long long columns) {
  __shared__ float of_warp[256];
  const int vectors = static_cast<int>(columns) / 4;
  float sum = 0;
  for (int i = threadIdx.x; i < vectors; i += 256) {
    const float4 v = x[static_cast<long long>(blockIdx.x) * vectors + i];
    sum += v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
  }
  of_warp[threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {  // in pairs: one by one they would round more than PyTorch's sum
#pragma unroll 1
    for (int i = 1; i < 255; i += 2) sum += of_warp[i] + of_warp[i + 1];
    sum += of_warp[255];
    y[blockIdx.x] = sum;
  }
}
