// Split-K through memory: blocks that share the k of a tile leave their sums in partial[split][batch][m][n], and the
// launch behind adds them in a fixed order and runs the epilogue (gemm/finish.h). Results do not depend on timing.
#pragma once

#include "ptx/types.h"

namespace solstice::epilogue {

// T: float, or const float to whom reads them.
template <typename T>
struct PartialSums {
  T* data;
  int batches, m, n;

  SOLSTICE_DEVICE i64 count() const { return static_cast<i64>(batches) * m * n; }  // of one split
  SOLSTICE_DEVICE T* of(int split, int batch) const {
    return data + (static_cast<i64>(split) * batches + batch) * m * n;
  }
};

// part: epilogue

// A thread's accumulators in wgmma's layout, whose rows and columns are lines of the operands that `Side` says
// (Side::m, Side::n): from (row, column) on, as far as the result has them.
template <class Side, int kSums>
SOLSTICE_DEVICE void store_partial(const PartialSums<float>& partial, int split, int batch, const float (&sums)[kSums],
                                   int row, int column, int rows, int columns) {
  float* to = partial.of(split, batch);
#pragma unroll
  for (int i = 0; i < kSums; ++i) {
    const int r = row + 8 * (i / 2 % 2), c = column + 8 * (i / 4) + i % 2;
    if (r < rows && c < columns) to[static_cast<i64>(Side::m(r, c)) * partial.n + Side::n(r, c)] = sums[i];
  }
}

// part: fold

// Adds kCount neighbours, aligned to as many elements.
template <int kCount>
SOLSTICE_DEVICE void add_partial(float (&v)[kCount], const float* from) {
  if constexpr (kCount == 4) {
    const float4 w = *reinterpret_cast<const float4*>(from);
    v[0] += w.x, v[1] += w.y, v[2] += w.z, v[3] += w.w;
  } else {
#pragma unroll
    for (int j = 0; j < kCount; ++j) v[j] += from[j];
  }
}

}  // namespace solstice::epilogue
