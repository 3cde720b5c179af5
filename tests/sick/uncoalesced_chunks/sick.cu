// y[r] = sum over c of x[r, c]^2: a block a row.
extern "C" __global__ void squares(const float* x, float* y, long long columns) {
  using Vector = float4;
  constexpr int kWidth = sizeof(Vector) / sizeof(float);
  const Vector* row = reinterpret_cast<const Vector*>(x + blockIdx.x * columns);
  __shared__ float of_warp[8];
  float sum = 0;
  const int vectors = static_cast<int>(columns) / kWidth, share = vectors / 256;
  for (int i = 0; i < share; ++i) {
    const Vector v = row[threadIdx.x * share + i];
#pragma unroll
    for (int k = 0; k < kWidth; ++k) sum += (&v.x)[k] * (&v.x)[k];
  }
  for (int lane = 16; lane > 0; lane /= 2) sum += __shfl_xor_sync(~0u, sum, lane);
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int i = 1; i < 8; ++i) sum += of_warp[i];
    y[blockIdx.x] = sum;
  }
}
