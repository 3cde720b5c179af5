// Three planes of bf16, which has fp32's exponents: no scales, and nothing to count of what is streamed. Both operands
// are lifted by a power of two, so that planes hold the smallest values too (math.h), and sums are lowered by both when
// they are done. Large values overflow, and make sums that are not finite.
//
// A warp has fragments of half chunks of 32 k, which are promoted each: what is of the size of the result is then added
// in two steps between promotions, all the small products before it (stage_product.h).
#pragma once

#include "mainloop/fragments.h"

// part: main loop

namespace solstice::mainloop {

template <class Tile>
struct Fragments<Bf16x6Lifted, Tile> {
  static constexpr int kParts = 2, kSums = Tile::kN / 2;
  // Units of 16 bytes were slower here (docs/measured/gemm.md).
  static constexpr Unaligned kUnaligned = Unaligned::kByElement;
  static constexpr Accumulate kAccumulate = Accumulate::kInPart;
  static constexpr int kSteps = mma::kSteps / kParts;  // instructions along k

  u32 planes[3][kSteps][4];

  template <class Guard>
  SOLSTICE_DEVICE void split(float (&v)[2][8], int, Guard&) {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      lift<Bf16x6Lifted>(v[r]);
      take_planes<mma::BF16>(planes, v[r], r);
    }
  }
  SOLSTICE_DEVICE void multiply(float (&d)[kSums], u32 held, int part) const {
    RegisterProduct<Tile>::run(d, planes, held, part * kSteps);
  }
  SOLSTICE_DEVICE void promote(float (&sums)[kSums], const float (&part)[kSums], u32) const {
#pragma unroll
    for (int i = 0; i < kSums; ++i) sums[i] += part[i];
  }
  SOLSTICE_DEVICE static void finish(float (&sums)[kSums]) {
    constexpr float kLowered = 1.f / (1ull << 2 * Bf16x6Lifted::kLift);
#pragma unroll
    for (int i = 0; i < kSums; ++i) sums[i] *= kLowered;
  }
};

}  // namespace solstice::mainloop
