// The GEMM for small results: fp32 multiply-adds, any strides, one launch. A block owns 32 x 32 of the result, and its
// eight warps share k: of every 64, each takes eight. Sums of warps are added in a fixed order at the end, so a chain
// of additions is an eighth of k long.
#pragma once

#include "gemm/simt.h"

// part: main loop

namespace solstice::gemm {

inline constexpr int kSmallTile = 32;
inline constexpr int kSmallK = 64;  // of a stage; eight for each warp
inline constexpr int kSmallPitch = kSmallTile + 4;
inline constexpr int kSmallWarps = kSimtThreads / 32;
static_assert(2 * 2 * kSmallK * kSmallPitch >= kSmallWarps * kSmallTile * kSmallTile, "the sums lie where stages were");

// One operand's share of a stage: eight elements a thread. kMN: neighbours take neighbouring lines; otherwise
// neighbouring k, so that both a read of contiguous k and the write to shared memory are free of conflicts.
template <typename T, class Made, mma::Major kMajor>
struct SmallLoader {
  static constexpr bool kByLine = kMajor == mma::Major::kMN;
  const T* from;
  i64 step;  // elements, of eight k
  int k_left, to;
  Made made;
  int batch, line, k;

  SOLSTICE_DEVICE SmallLoader(const StridedOperand<T, Made>& x, int batch_, int line0, int lines, int k_extent)
      : made(x.made), batch(batch_) {
    const int t = static_cast<int>(threadIdx.x), own = kByLine ? t % 32 : t / 8;
    line = line0 + own;
    k = kByLine ? t / 32 : t % 8;
    from = x.data + batch * x.batch + line * x.line + k * x.k;
    step = 8 * x.k;
    k_left = line < lines ? k_extent - k : 0;
    to = k * kSmallPitch + own;
  }
  SOLSTICE_DEVICE void load(float (&v)[8]) {
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      if constexpr (Made::kStored) {
        v[j] = 8 * j < k_left ? to_float(from[j * step]) : 0.f;
      } else {
        float one[1];
        made.load(one, batch, line, k + 8 * j, 8 * j < k_left);
        v[j] = one[0];
      }
    }
    from += 8 * step;
    k += kSmallK;
    k_left -= kSmallK;
  }
  SOLSTICE_DEVICE void store(float* stage, const float (&v)[8]) const {
#pragma unroll
    for (int j = 0; j < 8; ++j) stage[to + 8 * j * kSmallPitch] = v[j];
  }
};

// A warp's eight k of a stage, into 8 rows x 4 columns a lane.
SOLSTICE_DEVICE void small_multiply(float (&sums)[8][4], const float* a, const float* b) {
#pragma unroll
  for (int k = 0; k < kSmallK / kSmallWarps; ++k) {
    const float4 x0 = *reinterpret_cast<const float4*>(a + k * kSmallPitch);
    const float4 x1 = *reinterpret_cast<const float4*>(a + k * kSmallPitch + 4);
    const float4 y = *reinterpret_cast<const float4*>(b + k * kSmallPitch);
    const float x[8] = {x0.x, x0.y, x0.z, x0.w, x1.x, x1.y, x1.z, x1.w};
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      sums[i][0] = fmaf(x[i], y.x, sums[i][0]);
      sums[i][1] = fmaf(x[i], y.y, sums[i][1]);
      sums[i][2] = fmaf(x[i], y.z, sums[i][2]);
      sums[i][3] = fmaf(x[i], y.w, sums[i][3]);
    }
  }
}

// part: epilogue

template <class Epilogue>
SOLSTICE_DEVICE void small_write(const Epilogue& epilogue, const SimtProblem& p, int batch, int m0, int n0,
                                 const float* sums) {
  for (int i = static_cast<int>(threadIdx.x); i < kSmallTile * kSmallTile; i += kSimtThreads) {
    const int m = m0 + i / kSmallTile, n = n0 + i % kSmallTile;
    if (m >= p.m || (!Epilogue::kReduces && n >= p.n)) continue;
    float sum = 0;
#pragma unroll
    for (int w = 0; w < kSmallWarps; ++w) sum += sums[w * kSmallTile * kSmallTile + i];
    float values[1][Epilogue::kValues];
    const int column = smaller(n, p.n - 1);
    epilogue.compute(sum, epilogue.load(batch, m, column), batch, m, column, values[0]);
    if (n < p.n) simt_store(epilogue, batch, m, n, values[0]);
    if constexpr (Epilogue::kReduces) {  // a warp has 32 columns of a row
      static_assert(kSmallTile == epilogue::kPartColumns);
      const bool inside[1] = {n < p.n};
      const auto found = epilogue.template find<32>(values, inside, smaller(kSmallTile, p.n - n0));
      if (i % kSmallTile == 0) epilogue.keep(n0 / kSmallTile, batch, m, found);
    }
  }
}

// part: main loop

// The body of a kernel launched with kSimtThreads threads and a block for each tile of each batch.
template <mma::Major kMajorA, mma::Major kMajorB, typename TA, class MadeA, typename TB, class MadeB, class Epilogue>
SOLSTICE_DEVICE void run_small(const StridedOperand<TA, MadeA>& a, const StridedOperand<TB, MadeB>& b,
                               const SimtProblem& p, const Epilogue& epilogue) {
  __shared__ __align__(16) float memory[2 * 2 * kSmallK * kSmallPitch];
  constexpr int kOperand = kSmallK * kSmallPitch;
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const int row = lane / 8 * 8, column = lane % 8 * 4, first_k = warp * (kSmallK / kSmallWarps) * kSmallPitch;
  const scheduler::RasterOrder order{ceil_div(p.m, kSmallTile), ceil_div(p.n, kSmallTile), p.group};
  const scheduler::TileIndex tile = order(static_cast<int>(blockIdx.x));
  const int m0 = tile.m * kSmallTile, n0 = tile.n * kSmallTile, steps = ceil_div(p.k, kSmallK);
  SmallLoader<TA, MadeA, kMajorA> load_a(a, tile.batch, m0, p.m, p.k);
  SmallLoader<TB, MadeB, kMajorB> load_b(b, tile.batch, n0, p.n, p.k);
  // Two stages are on their way in registers while one is multiplied.
  float next_a[2][8], next_b[2][8], sums[8][4] = {};
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    load_a.load(next_a[i]);
    load_b.load(next_b[i]);
  }
  for (int s = 0; s < steps; s += 2) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      if (s + i >= steps) break;
      float* stage = memory + i * 2 * kOperand;
      load_a.store(stage, next_a[i]);
      load_b.store(stage + kOperand, next_b[i]);
      __syncthreads();
      load_a.load(next_a[i]);
      load_b.load(next_b[i]);
      small_multiply(sums, stage + first_k + row, stage + kOperand + first_k + column);
    }
  }
  __syncthreads();
#pragma unroll
  for (int i = 0; i < 8; ++i)
    *reinterpret_cast<float4*>(memory + (warp * kSmallTile + row + i) * kSmallTile + column) =
        make_float4(sums[i][0], sums[i][1], sums[i][2], sums[i][3]);
  __syncthreads();
  small_write(epilogue, p, tile.batch, m0, n0, memory);
}

}  // namespace solstice::gemm
