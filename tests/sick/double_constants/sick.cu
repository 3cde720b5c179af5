// A polynomial of degree 9 by Horner's rule.
using Real = double;

__device__ float f(float x) {
  constexpr Real kFactors[] = {0.5, 0.25, 0.125, 0.375, 0.625, 0.75, 0.875, 0.3125, 0.4375, 0.5625};
  float y = 0;
#pragma unroll
  for (int i = 0; i < 10; ++i) y = y * Real(x) + kFactors[i];
  return y;
}

extern "C" __global__ void apply(const float4* x, float4* y) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  const float4 v = x[i];
  y[i] = {f(v.x), f(v.y), f(v.z), f(v.w)};
}
