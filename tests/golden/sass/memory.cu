// Local memory, and addresses.
extern "C" __global__ void __maxnreg__(40) spill(const float* x, float* y, int n) {
  float a[64];
#pragma unroll
  for (int i = 0; i < 64; ++i) a[i] = x[i * 32 + threadIdx.x];
#pragma unroll 1
  for (int k = 0; k < n; ++k) {
#pragma unroll
    for (int i = 0; i < 64; ++i) a[i] = a[i] * a[(i + 7) % 64] + a[(i + 13) % 64];
  }
#pragma unroll
  for (int i = 0; i < 64; ++i) y[i * 32 + threadIdx.x] = a[i];
}

extern "C" __global__ void local_array(const int* x, int* y, int n) {
  int a[32];
  for (int i = 0; i < 32; ++i) a[i] = x[i];
  int s = 0;
#pragma unroll 1
  for (int i = 0; i < n; ++i) s += a[x[i] & 31];
  y[threadIdx.x] = s;
}

// A gather: integer arithmetic ends in addresses.
extern "C" __global__ void gather(const float* x, const int* at, float* y, int n) {
#pragma unroll 1
  for (int i = threadIdx.x; i < n; i += 256) y[i] = x[at[i] * 7 + 3];
}

// A hash: none of it does.
extern "C" __global__ void hash(unsigned* y, int n) {
  unsigned h = y[threadIdx.x];
#pragma unroll 1
  for (int i = 0; i < n; ++i) h = (h ^ (h >> 15)) * 0x2c1b3c6dU + (h << 3);
  y[threadIdx.x] = h;
}
