// y[i, j] = x[i] * w[j] for 8 j: a thread an i.
extern "C" __global__ void spread(const float* x, const float* w, float* y) {
  using Vector = float2;
  constexpr int kWidth = sizeof(Vector) / sizeof(float);
  const int i = blockIdx.x * 256 + threadIdx.x;
  const float v = x[i];
  float factors[8];
#pragma unroll
  for (int j = 0; j < 8; ++j) factors[j] = w[j] * v;
  Vector* to = reinterpret_cast<Vector*>(y) + i * (8 / kWidth);
#pragma unroll
  for (int j = 0; j < 8 / kWidth; ++j) to[j] = reinterpret_cast<Vector*>(factors)[j];
}
