// y = x / (1 + x^2 / (3 + x^2 / (5 + ..))).
__device__ float divide(float a, float b) { return a / b; }

__device__ float f(float x) {
  float d = 5;
#pragma unroll
  for (int k = 3; k > 0; k -= 2) d = k + divide(x * x, d);
  return divide(x, d);
}

extern "C" __global__ void apply(const float4* x, float4* y) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  const float4 v = x[i];
  y[i] = {f(v.x), f(v.y), f(v.z), f(v.w)};
}
