// y[r, c] = a[r] * b[c]: a block a row.
extern "C" __global__ void outer(const float* a, const float* b, float* y, long long columns) {
  using Vector = float4;
  constexpr int kWidth = sizeof(Vector) / sizeof(float);
  Vector* row = reinterpret_cast<Vector*>(y + blockIdx.x * columns);
  const float4* factors = reinterpret_cast<const float4*>(b);
  const float left = a[blockIdx.x];
  __shared__ float right[4096];
  for (int i = threadIdx.x; i < 1024; i += 256) reinterpret_cast<float4*>(right)[i] = factors[i];
  __syncthreads();
#pragma unroll 4
  for (int i = threadIdx.x; i < columns / kWidth; i += 256) {
    Vector v = reinterpret_cast<const Vector*>(right)[i];
#pragma unroll
    for (int k = 0; k < kWidth; ++k) (&v.x)[k] *= left;
    row[i] = v;
  }
}
