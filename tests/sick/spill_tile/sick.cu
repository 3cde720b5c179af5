// y[m, n] = sum over k of |x[m, k] - w[n, k]|: tiles of 64 x 128, of which a thread has 4 x 8. Sums of 64 terms are
// added up by themselves: one of 256 would round more than PyTorch's, which adds in pairs.
constexpr int kDepth = 16, kTerms = 64;

extern "C" __global__ void __launch_bounds__(256, 8)
    distances(const float* x, const float* w, float* y, long long N, long long K) {
  __shared__ float a[kDepth][66], b[kDepth][130];
  const int tid = threadIdx.x, row = tid / 16, column = tid % 16;
  x += blockIdx.y * 64 * K;
  w += blockIdx.x * 128 * K;
  float sums[4][8] = {}, parts[4][8] = {};
  for (int k = 0; k < K; k += kDepth) {
    for (int i = tid; i < 64 * kDepth; i += 256) a[i % kDepth][i / kDepth] = x[i / kDepth * K + k + i % kDepth];
    for (int i = tid; i < 128 * kDepth; i += 256) b[i % kDepth][i / kDepth] = w[i / kDepth * K + k + i % kDepth];
    __syncthreads();
#pragma unroll
    for (int d = 0; d < kDepth; ++d) {
      float left[4], right[8];
#pragma unroll
      for (int i = 0; i < 4; ++i) left[i] = a[d][row * 4 + i];
#pragma unroll
      for (int j = 0; j < 8; ++j) right[j] = b[d][column + 16 * j];
#pragma unroll
      for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 8; ++j) parts[i][j] += fabsf(left[i] - right[j]);
    }
    __syncthreads();
    if ((k + kDepth) % kTerms != 0) continue;
#pragma unroll
    for (int i = 0; i < 4; ++i)
#pragma unroll
      for (int j = 0; j < 8; ++j) sums[i][j] += parts[i][j], parts[i][j] = 0;
  }
#pragma unroll
  for (int i = 0; i < 4; ++i)
#pragma unroll
    for (int j = 0; j < 8; ++j)
      y[(blockIdx.y * 64 + row * 4 + i) * N + blockIdx.x * 128 + column + 16 * j] = sums[i][j];
}
