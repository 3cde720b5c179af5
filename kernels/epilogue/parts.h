// Reductions over the rows of a result while it is in registers. A part is kPartColumns columns of one row, which some
// neighbouring lanes hold together; what they find goes to memory, and a launch behind (src/families/gemm/fold.h) folds
// a row's parts in their order. A generated epilogue (output.h) that reduces provides
//
//   static constexpr bool kReduces = true;
//   static constexpr bool kWholeParts;   // rows end with a part: what is of a part is inside
//   struct Found;                        // a part's findings
//   template <int kLanes, int kCount>    // every lane has kCount elements; `count` columns of the part lie in the row
//   Found find(const float (&values)[kCount][kValues], const bool (&inside)[kCount], int count) const;
//   void keep(int part, int batch, int m, const Found& found) const;
#pragma once

#include "ptx/types.h"
#include "reduction/correct.h"

namespace solstice::epilogue {

inline constexpr int kPartColumns = 32;

// In a tree, over a thread's elements and then over lanes: sums of equal values in a whole part are exact.
template <class Op, int kLanes, int kCount>
SOLSTICE_DEVICE float in_tree(float (&terms)[kCount]) {
#pragma unroll
  for (int apart = kCount / 2; apart > 0; apart /= 2) {
#pragma unroll
    for (int i = 0; i < apart; ++i) terms[i] = Op::template combine<float>(terms[i], terms[i + apart]);
  }
  return reduction::reduce_lanes<Op, kLanes>(terms[0]);
}

// Over values number kValue of the part's elements; all lanes get the result.
template <class Op, int kLanes, int kValue, int kCount, int kValues>
SOLSTICE_DEVICE float reduced(const float (&values)[kCount][kValues], const bool (&inside)[kCount]) {
  float terms[kCount];
#pragma unroll
  for (int i = 0; i < kCount; ++i) terms[i] = inside[i] ? values[i][kValue] : Op::template start<float>();
  return in_tree<Op, kLanes>(terms);
}

template <int kLanes, int kValue, int kCount, int kValues>
SOLSTICE_DEVICE float squares_around(float center, const float (&values)[kCount][kValues],
                                     const bool (&inside)[kCount]) {
  float terms[kCount];
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    const float distance = values[i][kValue] - center;
    terms[i] = inside[i] ? distance * distance : 0.f;
  }
  return in_tree<reduction::Sum, kLanes>(terms);
}

// Of exp(x - center), times `factor(i)` each.
template <int kLanes, int kValue, int kCount, int kValues, class Factor>
SOLSTICE_DEVICE float exponentials_around(float center, const float (&values)[kCount][kValues],
                                          const bool (&inside)[kCount], Factor&& factor) {
  float terms[kCount];
#pragma unroll
  for (int i = 0; i < kCount; ++i)
    terms[i] = inside[i] ? math::exponential(values[i][kValue] - center) * factor(i) : 0.f;
  return in_tree<reduction::Sum, kLanes>(terms);
}

// 1 over the columns of a part that lie in the row.
SOLSTICE_DEVICE float share_of(int count) {
  return count == kPartColumns ? 1.f / kPartColumns : 1.f / static_cast<float>(count);
}

// Columns of part number `part` that a row of n columns has.
SOLSTICE_DEVICE int columns_of(int part, int n) { return smaller(kPartColumns, n - part * kPartColumns); }

}  // namespace solstice::epilogue
