// y[b, c, n] = exp(x[b, c, n] - max) / sum, over the 8 channels: a thread a pixel.
constexpr int kChannels = 8;

extern "C" __global__ void softmax(const float* x, float* y, long long pixels) {
  const long long at = static_cast<long long>(blockIdx.y) * kChannels * pixels + blockIdx.x * 256 + threadIdx.x;
  float values[kChannels];
  float largest = -3.4e38f, sum = 0;
#pragma unroll
  for (int c = 0; c < kChannels; ++c) largest = fmaxf(largest, values[c] = x[at + c * pixels]);
#pragma unroll
  for (int c = 0; c < kChannels; ++c) sum += values[c] = expf(values[c] - largest);
#pragma unroll
  for (int c = 0; c < kChannels; ++c) y[at + c * pixels] = __fdividef(values[c], sum);
}
