// y[r, c] = tanh(tanh(tanh(tanh(x[r, c])))): a block takes its share of the rows, one block fits an SM.
extern "C" __global__ void __launch_bounds__(1024) tangents(const float4* x, float4* y, long long elements) {
  const int share = static_cast<int>(elements / 4 / gridDim.x);
  const long long begin = static_cast<long long>(blockIdx.x) * share;
  for (int i = threadIdx.x; i < share; i += 1024) {
    float4 v = x[begin + i];
#pragma unroll
    for (int k = 0; k < 4; ++k) v = {tanhf(v.x), tanhf(v.y), tanhf(v.z), tanhf(v.w)};
    y[begin + i] = v;
  }
}
