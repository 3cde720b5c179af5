// Kernels whose loops are known.
extern "C" __global__ void nested(const float* x, float* y, int n, int m) {
#pragma unroll 1
  for (int i = threadIdx.x; i < n; i += 256) {
    float s = 0;
#pragma unroll 1
    for (int j = 0; j < m; ++j) s += x[i * m + j];
    y[i] = s;
  }
}

extern "C" __global__ void with_break(const int* x, int* y, int n) {
  int i = 0;
#pragma unroll 1
  for (; i < n; ++i) {
    if (x[i * 32 + threadIdx.x] == 7) break;
    if (x[i] > 5) y[i] = 3;
  }
  y[threadIdx.x] = i;
}

// Two loops: four at a time, and the rest.
extern "C" __global__ void unrolled(const float4* x, float4* y, int n) {
  float4 s = {0, 0, 0, 0};
#pragma unroll 4
  for (int i = 0; i < n; ++i) {
    const float4 v = x[i * 128 + threadIdx.x];
    s.x += v.x;
    s.y += v.y;
    s.z += v.z;
    s.w += v.w;
  }
  y[threadIdx.x] = s;
}

extern "C" __global__ void barrier_in_loop(float* y) {
  __shared__ float s[256];
  s[threadIdx.x] = y[threadIdx.x];
#pragma unroll 1
  for (int i = 128; i > 0; i /= 2) {
    __syncthreads();
    if (threadIdx.x < i) s[threadIdx.x] += s[threadIdx.x + i];
  }
  __syncthreads();
  y[threadIdx.x] = s[0];
}

// An indirect branch in a loop.
extern "C" __global__ void switches(int* y, int n) {
#pragma unroll 1
  for (int i = 0; i < n; i++) {
    switch (y[i]) {
      case 0: y[i] = 4; break;
      case 1: y[i + 3] = 2; break;
      case 2: y[i * 2] = 7; break;
      case 3: y[i] = y[i + 4]; break;
      case 4: y[9] = y[i * 4]; break;
      case 5: y[i + 1] = y[i * 4] / 3; break;
      case 6: y[3 + i] *= y[2]; break;
    }
  }
}

extern "C" __global__ void straight(const float* x, float* y) { y[threadIdx.x] = x[threadIdx.x]; }
