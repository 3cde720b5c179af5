// Slow arithmetic, and functions that are called.
extern "C" __global__ void slow_f32(const float* x, float* y, int n) {
#pragma unroll 1
  for (int i = threadIdx.x; i < n; i += 256) y[i] = x[i] / y[i] + sqrtf(x[i]) + __expf(x[i]);
}

extern "C" __global__ void slow_f64(const double* x, double* y, int n) {
#pragma unroll 1
  for (int i = threadIdx.x; i < n; i += 256) y[i] = x[i] / y[i] + sqrt(x[i]);
}

extern "C" __global__ void integers(const int* x, int* y, long long* z, int n) {
#pragma unroll 1
  for (int i = threadIdx.x; i < n; i += 256) {
    y[i] = x[i] / y[i];
    z[i] = z[i] % (z[i + 1] | 1);
  }
}

extern "C" __device__ __noinline__ float callee(float x, int n) {
#pragma unroll 1
  for (int i = 0; i < n; ++i) x = x * x + 1;
  return x;
}

extern "C" __global__ void calls(float* y, int n) {
#pragma unroll 1
  for (int i = 0; i < n; ++i) y[i] = callee(y[i], i);
}
