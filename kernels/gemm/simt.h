// The GEMM for everything else: fp32 multiply-adds, any strides, any alignment, exact Inf and NaN behaviour.
//
// Tiles of 128 x 128, 8 k a stage, two stages in shared memory with the next one in flight in registers; 256
// threads own 8 x 8 sums each, as four 4 x 4 blocks 64 apart, so that shared memory is read 16 bytes at a
// time without conflicts. Sums of 128 k are added up in shared memory: the error of long sums grows with
// k/128 + 128 terms instead of k.
//
// Two sums that share A: a tile's columns are 64 of B beside the same 64 of the second B, so that a thread's columns j
// and j + 4 are the two sums of one element.
#pragma once

#include "epilogue/output.h"
#include "epilogue/parts.h"
#include "gemm/prologue.h"
#include "math/storage.h"
#include "mma/descriptor.h"
#include "ptx/memory.h"
#include "ptx/sync.h"
#include "scheduler/raster.h"

// part: main loop

namespace solstice::gemm {

inline constexpr int kSimtThreads = 256;
inline constexpr int kSimtTile = 128;
inline constexpr int kSimtK = 8;
inline constexpr int kSimtPitch = kSimtTile + 4;
inline constexpr int kSimtPromote = 16;                             // stages
inline constexpr int kSimtSharedBytes = kSimtTile * kSimtTile * 4;  // dynamic

template <typename T, class Made = AsStored>
struct StridedOperand {
  const T* data;
  i64 batch, line, k;  // strides in elements; a line is a row of A or a column of B
  Made made = {};
};

struct SimtProblem {
  int m, n, k, batches, group;
};

// One operand's share of a stage. kK: thread t loads four k of line t/2; kMN: four lines of k t/32.
template <typename T, class Made, mma::Major kMajor, int kVector>
struct SimtLoader {
  static constexpr bool kAlongK = kMajor == mma::Major::kK;
  const T* from;
  i64 step, line_stride, k_stride;
  int lines_left, k_left;
  int to;
  Made made;
  int batch, line, k;

  SOLSTICE_DEVICE static int own_line() {
    const int t = threadIdx.x;
    return kAlongK ? t / 2 : t % 32 * 4;
  }
  SOLSTICE_DEVICE SimtLoader(const StridedOperand<T, Made>& x, int batch_, int line0, int lines, int k_extent)
      : made(x.made), batch(batch_) {
    const int t = threadIdx.x, own = own_line();
    line = line0 + own;
    k = kAlongK ? t % 2 * 4 : t / 32;
    from = x.data + batch * x.batch + line * x.line + k * x.k;
    step = kSimtK * x.k;
    line_stride = x.line;
    k_stride = x.k;
    lines_left = lines - line;
    k_left = k_extent - k;
    to = k * kSimtPitch + own;
  }
  SOLSTICE_DEVICE void load(float (&v)[4]) {
    const i64 stride = kAlongK ? k_stride : line_stride;
    const int valid = kAlongK ? (lines_left > 0 ? k_left : 0) : (k_left > 0 ? lines_left : 0);
    if constexpr (!Made::kStored) {
      made.load(v, batch, line, k, valid);
      k += kSimtK;
    } else if constexpr (kVector == 4 && kSame<T, float>) {
      if (valid >= 4) {
        const float4 w = *reinterpret_cast<const float4*>(from);
        v[0] = w.x, v[1] = w.y, v[2] = w.z, v[3] = w.w;
      } else {
#pragma unroll
        for (int i = 0; i < 4; ++i) v[i] = i < valid ? from[i] : 0.f;
      }
    } else {
#pragma unroll
      for (int i = 0; i < 4; ++i) v[i] = i < valid ? to_float(from[i * stride]) : 0.f;
    }
    from += step;
    k_left -= kSimtK;
  }
  SOLSTICE_DEVICE void store(float* stage, const float (&v)[4]) const {
    if constexpr (kAlongK) {
#pragma unroll
      for (int i = 0; i < 4; ++i) stage[to + i * kSimtPitch] = v[i];
    } else {
      *reinterpret_cast<float4*>(stage + to) = make_float4(v[0], v[1], v[2], v[3]);
    }
  }
};

SOLSTICE_DEVICE void simt_fragment(float (&v)[8], const float* line) {
  const float4 low = *reinterpret_cast<const float4*>(line);
  const float4 high = *reinterpret_cast<const float4*>(line + 64);
  v[0] = low.x, v[1] = low.y, v[2] = low.z, v[3] = low.w;
  v[4] = high.x, v[5] = high.y, v[6] = high.z, v[7] = high.w;
}

// part: epilogue

template <class Epilogue, int kOutput = 0>
SOLSTICE_DEVICE void simt_store(const Epilogue& epilogue, int batch, int m, int n,
                                const float (&values)[Epilogue::kValues]) {
  if constexpr (kOutput < Epilogue::kOutputs) {
    epilogue.template store<kOutput>(batch, m, n, math::narrow<ElementOf<Epilogue, kOutput>>(values[kOutput]));
    simt_store<Epilogue, kOutput + 1>(epilogue, batch, m, n, values);
  }
}

template <int kSums, class Epilogue>
SOLSTICE_DEVICE void simt_write(const Epilogue& epilogue, const SimtProblem& p, int batch, int m0, int n0,
                                const float (&sums)[8][8]) {
#pragma unroll
  for (int i = 0; i < 8; ++i) {
#pragma unroll
    for (int j = 0; j < 8 / kSums; ++j) {
      const int m = m0 + i % 4 + i / 4 * 64;
      const int n = n0 + j % 4 + j / 4 * 64;
      if (m < p.m && n < p.n) {
        float values[Epilogue::kValues];
        if constexpr (kSums == 2)
          epilogue.compute(sums[i][j], sums[i][j + 4], epilogue.load(batch, m, n), batch, m, n, values);
        else
          epilogue.compute(sums[i][j], epilogue.load(batch, m, n), batch, m, n, values);
        simt_store(epilogue, batch, m, n, values);
      }
    }
  }
}

// The same where rows are reduced: eight neighbouring lanes have 32 columns of a row.
template <class Epilogue>
SOLSTICE_DEVICE void simt_reduce(const Epilogue& epilogue, const SimtProblem& p, int batch, int m0, int n0,
                                 const float (&sums)[8][8]) {
  const int lane = static_cast<int>(threadIdx.x) % 8;
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const int m = m0 + i % 4 + i / 4 * 64;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int first = n0 + half * 64, count = smaller(epilogue::kPartColumns, p.n - first + 4 * lane);
      float own[4][Epilogue::kValues];
      bool inside[4];
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const int row = smaller(m, p.m - 1), n = smaller(first + j, p.n - 1);
        inside[j] = first + j < p.n;
        epilogue.compute(sums[i][4 * half + j], epilogue.load(batch, row, n), batch, row, n, own[j]);
        if (m < p.m && inside[j]) simt_store(epilogue, batch, m, n, own[j]);
      }
      const auto found = epilogue.template find<8>(own, inside, count);
      if (lane == 0 && m < p.m && count > 0) epilogue.keep(first / epilogue::kPartColumns, batch, m, found);
    }
  }
}

// part: promotion

// Adds the sums to this thread's totals in shared memory (or starts them) and clears them.
SOLSTICE_DEVICE void simt_promote(float4* totals, float (&sums)[8][8], bool first) {
#pragma unroll
  for (int i = 0; i < 16; ++i) {
    float* s = &sums[i / 2][i % 2 * 4];
    float4& total = totals[i * kSimtThreads];
    const float4 before = first ? make_float4(0.f, 0.f, 0.f, 0.f) : total;
    total = make_float4(before.x + s[0], before.y + s[1], before.z + s[2], before.w + s[3]);
    s[0] = s[1] = s[2] = s[3] = 0.f;
  }
}

// part: main loop

SOLSTICE_DEVICE void simt_multiply(float (&sums)[8][8], const float* from_a, const float* from_b) {
#pragma unroll
  for (int k = 0; k < kSimtK; ++k) {
    float x[8], y[8];
    simt_fragment(x, from_a + k * kSimtPitch);
    simt_fragment(y, from_b + k * kSimtPitch);
#pragma unroll
    for (int i = 0; i < 8; ++i)
#pragma unroll
      for (int j = 0; j < 8; ++j) sums[i][j] = fmaf(x[i], y[j], sums[i][j]);
  }
}

// The body of a kernel launched with kSimtThreads threads and kSimtSharedBytes of dynamic shared memory;
// kVectorA, kVectorB: neighbours along the contiguous dimension that may be loaded at once, 4 or 1. kSums: of an
// element, 2 where there is a second B. Takes tiles number `first`, `first + step` ...
template <mma::Major kMajorA, mma::Major kMajorB, int kVectorA, int kVectorB, int kSums = 1, typename TA, class MadeA,
          typename TB, class MadeB, class Epilogue>
SOLSTICE_DEVICE void run_simt(const StridedOperand<TA, MadeA>& a, const StridedOperand<TB, MadeB>& b,
                              const SimtProblem& p, const Epilogue& epilogue,
                              const StridedOperand<TB, MadeB>& second_b = {}, int first = static_cast<int>(blockIdx.x),
                              int step = static_cast<int>(gridDim.x)) {
  using LoaderB = SimtLoader<TB, MadeB, kMajorB, kVectorB>;
  constexpr int kColumns = kSimtTile / kSums;  // of the result
  const bool of_second = kSums == 2 && LoaderB::own_line() >= kColumns;
  __shared__ __align__(16) float stages[2][2][kSimtK * kSimtPitch];
  float4* totals = reinterpret_cast<float4*>(ptx::dynamic_shared()) + threadIdx.x;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int row = (warp / 2 * 4 + lane / 8) * 4, column = (warp % 2 * 8 + lane % 8) * 4;
  const scheduler::RasterOrder order{ceil_div(p.m, kSimtTile), ceil_div(p.n, kColumns), p.group};
  const int steps = ceil_div(p.k, kSimtK);
  for (int t = first; t < order.per_batch() * p.batches; t += step) {
    const scheduler::TileIndex tile = order(t);
    SimtLoader<TA, MadeA, kMajorA, kVectorA> load_a(a, tile.batch, tile.m * kSimtTile, p.m, p.k);
    LoaderB load_b(of_second ? second_b : b, tile.batch, tile.n * kColumns - (of_second ? kColumns : 0), p.n, p.k);
    float next_a[4], next_b[4], sums[8][8] = {};
    load_a.load(next_a);
    load_b.load(next_b);
    load_a.store(stages[0][0], next_a);
    load_b.store(stages[0][1], next_b);
    __syncthreads();
    for (int s = 0; s < steps; ++s) {
      if (s + 1 < steps) {
        load_a.load(next_a);
        load_b.load(next_b);
      }
      simt_multiply(sums, stages[s % 2][0] + row, stages[s % 2][1] + column);
      if (s % kSimtPromote == kSimtPromote - 1) simt_promote(totals, sums, s < kSimtPromote);
      if (s + 1 < steps) {
        load_a.store(stages[(s + 1) % 2][0], next_a);
        load_b.store(stages[(s + 1) % 2][1], next_b);
      }
      __syncthreads();
    }
    if (steps >= kSimtPromote) {
#pragma unroll
      for (int i = 0; i < 16; ++i) {
        const float4 total = totals[i * kSimtThreads];
        float* s = &sums[i / 2][i % 2 * 4];
        s[0] += total.x, s[1] += total.y, s[2] += total.z, s[3] += total.w;
      }
    }
    if constexpr (Epilogue::kReduces)
      simt_reduce(epilogue, p, tile.batch, tile.m * kSimtTile + row, tile.n * kColumns + column, sums);
    else
      simt_write<kSums>(epilogue, p, tile.batch, tile.m * kSimtTile + row, tile.n * kColumns + column, sums);
  }
}

}  // namespace solstice::gemm
