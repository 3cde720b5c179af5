// y[n, c, h, w] = x[n, c, h, w] * s[c] + t[h]: a block a plane, a thread four neighbours of each row.
extern "C" __global__ void affine(const float4* x, const float* s, const float* t, float4* y, long long channels,
                                  long long height, long long width) {
  using Index = long long;
  const Index C = channels, H = height, W = width / 4;
  for (Index k = 0; k < H; ++k) {
    const Index i = (blockIdx.x * H + k) * W + threadIdx.x;
    const Index h = i / W % H, c = i / (W * H) % C;
    const float4 v = x[i];
    y[i] = {v.x * s[c] + t[h], v.y * s[c] + t[h], v.z * s[c] + t[h], v.w * s[c] + t[h]};
  }
}
