// Between the sums of a tile of tensor.h and its epilogue: scales of whole lines, and how much of an epilogue's text
// there is.
#pragma once

#include "gemm/math.h"

namespace solstice::gemm {

// Steps of 16 accumulators that an epilogue's text is written for; 0: for all of them, one after the other. With
// promotion the loop costs more than it saves (docs/tried/gemm.md).
template <class Math, int kAccumulators, class Epilogue>
inline constexpr int kStepsAtOnce = Epilogue::kLong && !Math::kPromoted && kAccumulators > 32 ? 2 : 0;

// The same where elements need their row's results; there promoted sums gain too.
template <class Math, int kAccumulators, class Epilogue>
inline constexpr int kResidentSteps = (Epilogue::kLong || Math::kPromoted) && kAccumulators > 32 ? 2 : 0;

// Scales of whole lines, from L2: a thread has two rows, m and m + 8, and two of every eight columns, from n on.
template <bool kDual, int kRegisters, class Problem>
SOLSTICE_DEVICE void scale_lines(float (&sums)[kRegisters], const Problem& p, int batch, int m, int n) {
  const float* rows = reinterpret_cast<const float*>(p.scales_a) + static_cast<i64>(batch) * p.scale_stride_a + m;
  const i64 column = static_cast<i64>(batch) * p.scale_stride_b + n;
  const float above = __ldg(rows), below = __ldg(rows + 8);
#pragma unroll
  for (int i = 0; i < kRegisters; i += 4) {
    const bool second = kDual && i >= kRegisters / 2;
    const float* columns = reinterpret_cast<const float*>(second ? p.scales_second_b : p.scales_b) + column;
    const float2 both = __ldg(reinterpret_cast<const float2*>(columns + 2 * (second ? i - kRegisters / 2 : i)));
    sums[i] = sums[i] * above * both.x;
    sums[i + 1] = sums[i + 1] * above * both.y;
    sums[i + 2] = sums[i + 2] * below * both.x;
    sums[i + 3] = sums[i + 3] * below * both.y;
  }
}

}  // namespace solstice::gemm
