// The guard word that a block of a streamed product (stream.h) leaves for the fallback's decision, as the split pass
// does. `kWords`: words of shared memory for each warp.
#pragma once

#include "gemm/chunk.h"
#include "mainloop/math.h"

namespace solstice::gemm {

template <class Math>
struct StreamGuard;

template <>
struct StreamGuard<mainloop::Tf32> {
  static constexpr int kWords = 0;
};

// Guards against what chunks lose by their scales.
template <>
struct StreamGuard<mainloop::Fp16x3> {
  static constexpr int kWords = 1;
  RangeAt8 range;

  SOLSTICE_DEVICE void scale(float (&v)[2][16], float (&inverse)[2], int valid) {
    scale_chunks(v, inverse, valid, range);
  }
  template <int kSums>
  SOLSTICE_DEVICE GuardWord word(const float (&)[kSums]) const {
    return range.word();
  }
};

// A sum that is not finite, because of a value that overflows or because an operand is not, sends the whole product to
// the fallback. There Inf and NaN come out where fp32 has them.
template <>
struct StreamGuard<mainloop::Bf16x6Lifted> {
  static constexpr int kWords = 1;

  template <int kSums>
  SOLSTICE_DEVICE static bool all_finite(const float (&sums)[kSums]) {
    float zero = 0;  // NaN from the first sum on that is not finite
#pragma unroll
    for (int i = 0; i < kSums; ++i) zero += sums[i] * 0.f;
    return zero == 0.f;
  }
  template <int kSums>
  SOLSTICE_DEVICE GuardWord word(const float (&sums)[kSums]) const {
    const u32 lost = all_finite(sums) ? 0u : 0x00ffffffu;  // deeper than any other operand could make good
    return {lost, lost};
  }
};

}  // namespace solstice::gemm
