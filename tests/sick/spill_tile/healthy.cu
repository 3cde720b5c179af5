// y[m, n] = sum over k of |x[m, k] - w[n, k]|: tiles of 128 x 128, of which a thread has 8 x 8.
constexpr int kDepth = 16;

extern "C" __global__ void __launch_bounds__(256, 2)
    distances(const float* x, const float* w, float* y, long long N, long long K) {
  __shared__ float a[kDepth][130], b[kDepth][130];
  const int tid = threadIdx.x, row = tid / 16, column = tid % 16;
  x += blockIdx.y * 128 * K;
  w += blockIdx.x * 128 * K;
  float sums[8][8] = {};
  for (int k = 0; k < K; k += kDepth) {
    for (int i = tid; i < 128 * kDepth; i += 256) {
      a[i % kDepth][i / kDepth] = x[i / kDepth * K + k + i % kDepth];
      b[i % kDepth][i / kDepth] = w[i / kDepth * K + k + i % kDepth];
    }
    __syncthreads();
#pragma unroll
    for (int d = 0; d < kDepth; ++d) {
      float left[8], right[8];
#pragma unroll
      for (int i = 0; i < 8; ++i) left[i] = a[d][row * 8 + i], right[i] = b[d][column + 16 * i];
#pragma unroll
      for (int i = 0; i < 8; ++i)
#pragma unroll
        for (int j = 0; j < 8; ++j) sums[i][j] += fabsf(left[i] - right[j]);
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 8; ++i)
#pragma unroll
    for (int j = 0; j < 8; ++j)
      y[(blockIdx.y * 128 + row * 8 + i) * N + blockIdx.x * 128 + column + 16 * j] = sums[i][j];
}
