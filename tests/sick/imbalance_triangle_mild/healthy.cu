// y[r] = sum over c <= r of log(1 + exp(x[r, c])): 132 blocks of 32 warps, a warp a row.
extern "C" __global__ void triangle(const float* x, float* y, long long rows) {
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, share = static_cast<int>(rows) / gridDim.x;
  for (int k = warp; k < share; k += 32) {
    const int r = k * gridDim.x + blockIdx.x;
    float sum = 0;
#pragma unroll 8
    for (int c = lane; c <= r; c += 32) {
      const float v = x[r * rows + c];
      sum += fmaxf(v, 0) + log1pf(expf(-fabsf(v)));
    }
    for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(~0u, sum, step);
    if (lane == 0) y[r] = sum;
  }
}
