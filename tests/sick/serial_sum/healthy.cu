// y[r] = sum over c of x[r, c]^2: a block a row.
extern "C" __global__ void squares(const float4* x, float* y, long long columns) {
  __shared__ float of_warp[256];
  const int vectors = static_cast<int>(columns) / 4;
  float sum = 0;
  for (int i = threadIdx.x; i < vectors; i += 256) {
    const float4 v = x[static_cast<long long>(blockIdx.x) * vectors + i];
    sum += v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
  }
  for (int lane = 16; lane > 0; lane /= 2) sum += __shfl_xor_sync(~0u, sum, lane);
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int i = 1; i < 8; ++i) sum += of_warp[i];
    y[blockIdx.x] = sum;
  }
}
