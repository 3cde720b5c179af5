// y[n, m] = x[m, n]: tiles of 32 x 32 by way of shared memory.
extern "C" __global__ void transpose(const float* x, float* y, long long rows, long long columns) {
  __shared__ float tile[32][32];
  const int across = threadIdx.x % 32, down = threadIdx.x / 32;
  const long long m = blockIdx.y * 32, n = blockIdx.x * 32;
#pragma unroll
  for (int i = 0; i < 32; i += 8) tile[down + i][across] = x[(m + down + i) * columns + n + across];
  __syncthreads();
#pragma unroll
  for (int i = 0; i < 32; i += 8) y[(n + down + i) * rows + m + across] = tile[across][down + i];
}
