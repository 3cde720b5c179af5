// y[r, c] = x[r, c] - mean over r of x[r, c]: a block a strip of 8 columns, 256 rows at a time.
extern "C" __global__ void __launch_bounds__(512)
    centre(const float4* x, float4* y, long long rows, long long columns) {
  extern __shared__ float4 strip[];
  __shared__ float4 parts[16][2];
  const int side = threadIdx.x % 2, pitch = static_cast<int>(columns) / 4;
  x += blockIdx.x * 2 + side;
  y += blockIdx.x * 2 + side;
  float4 sum = {};
#pragma unroll 2
  for (int r = threadIdx.x / 2; r < rows; r += 256) {
    const float4 v = x[r * pitch];
    strip[r * 2 + side] = v;
    sum.x += v.x, sum.y += v.y, sum.z += v.z, sum.w += v.w;
  }
  for (int lane = 16; lane > 1; lane /= 2) {
    sum.x += __shfl_xor_sync(~0u, sum.x, lane), sum.y += __shfl_xor_sync(~0u, sum.y, lane);
    sum.z += __shfl_xor_sync(~0u, sum.z, lane), sum.w += __shfl_xor_sync(~0u, sum.w, lane);
  }
  if (threadIdx.x % 32 < 2) parts[threadIdx.x / 32][side] = sum;
  __syncthreads();
  sum = {};
#pragma unroll 2
  for (int i = 0; i < 16; ++i) {
    const float4 v = parts[i][side];
    sum.x += v.x, sum.y += v.y, sum.z += v.z, sum.w += v.w;
  }
  const float scale = 1.f / static_cast<float>(rows);
#pragma unroll 2
  for (int r = threadIdx.x / 2; r < rows; r += 256) {
    const float4 v = strip[r * 2 + side];
    y[r * pitch] = {v.x - sum.x * scale, v.y - sum.y * scale, v.z - sum.z * scale, v.w - sum.w * scale};
  }
}
