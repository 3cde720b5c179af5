// y[r, c] = silu(x[r, c] * rsqrt(mean over c of x[r, c]^2 + 1e-6) * g[c]) for rows of `columns` floats, a multiple of
// 4: a block a row, which it reads once and keeps in shared memory.

__device__ float sum_of_warp(float value) {
  for (int lane = 16; lane > 0; lane /= 2) value += __shfl_xor_sync(0xffffffffu, value, lane);
  return value;
}

__device__ float sum_of_block(float value) {
  __shared__ float of_warp[32];
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  value = sum_of_warp(value);
  if (lane == 0) of_warp[warp] = value;
  __syncthreads();
  const int warps = static_cast<int>(blockDim.x) / 32;
  return sum_of_warp(lane < warps ? of_warp[lane] : 0.f);
}

__device__ float silu(float value) { return value / (1.f + expf(-value)); }

extern "C" __global__ void rms_silu(const float* x, const float* g, float* y, long long columns) {
  extern __shared__ float4 row[];
  const int vectors = static_cast<int>(columns / 4);
  const float4* from = reinterpret_cast<const float4*>(x) + static_cast<long long>(blockIdx.x) * vectors;
  float4* to = reinterpret_cast<float4*>(y) + static_cast<long long>(blockIdx.x) * vectors;
  float squares = 0;
  for (int i = static_cast<int>(threadIdx.x); i < vectors; i += static_cast<int>(blockDim.x)) {
    const float4 v = row[i] = from[i];
    squares += v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
  }
  const float scale = rsqrtf(sum_of_block(squares) / static_cast<float>(columns) + 1e-6f);
  for (int i = static_cast<int>(threadIdx.x); i < vectors; i += static_cast<int>(blockDim.x)) {
    const float4 v = row[i], w = reinterpret_cast<const float4*>(g)[i];
    to[i] = {silu(v.x * scale * w.x), silu(v.y * scale * w.y), silu(v.z * scale * w.z), silu(v.w * scale * w.w)};
  }
}
