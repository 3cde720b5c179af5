// Promotion: the partial sums of a chunk, scaled where its planes are, are added to fp32 sums in registers.
#pragma once

#include "mainloop/math.h"
#include "ptx/memory.h"

// part: promotion

namespace solstice::mainloop {

// Four neighbouring accumulators: two columns (`column`: their scales) of rows m and m + 8 (`row`).
SOLSTICE_DEVICE void promote_scaled(float* sums, const float* part, Pair row, Pair column) {
  sums[0] += part[0] * row.x * column.x;
  sums[1] += part[1] * row.x * column.y;
  sums[2] += part[2] * row.y * column.x;
  sums[3] += part[3] * row.y * column.y;
}

// Of kN columns, in two halves: one half's scales are read while the other is added.
template <class Math, int kN>
struct Promotion {
  static constexpr int kRegisters = kN / 2, kPart = kN / 16;

  // Half of the scales of a thread's columns, from shared memory: two columns of every eight.
  template <int kHalf>
  SOLSTICE_DEVICE static void load_scales(u32 at, Pair (&scales)[kPart]) {
    if constexpr (Math::kScaled) {
#pragma unroll
      for (int j = 0; j < kPart; ++j) scales[j] = ptx::load_shared_pair(at + 32 * (kHalf * kPart + j));
    }
  }
  template <int kHalf>
  SOLSTICE_DEVICE static void add(float (&sums)[kRegisters], const float (&part)[kRegisters], Pair row,
                                  const Pair (&scales)[kPart]) {
#pragma unroll
    for (int j = 0; j < kPart; ++j) {
      const int i = 4 * (kHalf * kPart + j);
      if constexpr (Math::kScaled)
        promote_scaled(sums + i, part + i, row, scales[j]);
      else
        sums[i] += part[i], sums[i + 1] += part[i + 1], sums[i + 2] += part[i + 2], sums[i + 3] += part[i + 3];
    }
  }
};

}  // namespace solstice::mainloop
