// y[i, j] = x[i] * w[j] for 8 j: neighbouring threads on neighbouring 16 bytes.
extern "C" __global__ void spread(const float* x, const float* w, float* y) {
  const int lane = threadIdx.x % 32, first = blockIdx.x * 256 + threadIdx.x - lane;
  const float4 half = reinterpret_cast<const float4*>(w)[lane % 2];
  float4* to = reinterpret_cast<float4*>(y) + first * 2;
#pragma unroll
  for (int k = 0; k < 64; k += 32) {
    const float v = x[first + (k + lane) / 2];
    to[k + lane] = make_float4(half.x * v, half.y * v, half.z * v, half.w * v);
  }
}
