// y[r, c] = x[r, c] * rsqrt(mean over c of x[r, c]^2 + 1e-6): a block a row, kept in shared memory.
__device__ float sum_of_block(float value) {
  __shared__ float of_warp[32];
  for (int lane = 16; lane > 0; lane /= 2) value += __shfl_xor_sync(~0u, value, lane);
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = value;
  __syncthreads();
  value = threadIdx.x % 32 < blockDim.x / 32 ? of_warp[threadIdx.x % 32] : 0.f;
  for (int lane = 16; lane > 0; lane /= 2) value += __shfl_xor_sync(~0u, value, lane);
  return value;
}

extern "C" __global__ void normalise(const float4* x, float4* y, long long columns) {
  extern __shared__ float4 row[];
  const int vectors = static_cast<int>(columns) / 4;
  float squares = 0;
  for (int i = threadIdx.x; i < vectors; i += blockDim.x) {
    const float4 v = row[i] = x[static_cast<long long>(blockIdx.x) * vectors + i];
    squares += v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
  }
  const float scale = rsqrtf(sum_of_block(squares) / static_cast<float>(columns) + 1e-6f);
  for (int i = threadIdx.x; i < vectors; i += blockDim.x) {
    const float4 v = row[i];
    y[static_cast<long long>(blockIdx.x) * vectors + i] = {v.x * scale, v.y * scale, v.z * scale, v.w * scale};
  }
}
