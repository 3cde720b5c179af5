// y[r] = number of c with x[r, c] > 0: a block a row.
extern "C" __global__ void positives(const float4* x, float* y, long long columns) {
  __shared__ float of_warp[8];
  const int vectors = static_cast<int>(columns) / 4;
  float sum = 0;
  for (int i = threadIdx.x; i < vectors; i += 256) {
    const float4 v = x[static_cast<long long>(blockIdx.x) * vectors + i];
    sum += (v.x > 0) + (v.y > 0) + (v.z > 0) + (v.w > 0);
  }
  if (threadIdx.x == 0) y[blockIdx.x] = 0;
  __syncthreads();
  atomicAdd(y + blockIdx.x, sum);
}
