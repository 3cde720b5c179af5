// Two planes of fp16 with a power-of-two scale for each chunk of a row. The guard finds the scales, since it counts
// what they lose: guard.scale(v, inverse, valid) scales both rows in place.
#pragma once

#include "mainloop/fragments.h"
#include "mainloop/promotion.h"

// part: main loop

namespace solstice::mainloop {

template <class Tile>
struct Fragments<Fp16x3, Tile> {
  static constexpr int kParts = 1, kSums = Tile::kN / 2;
  static constexpr Unaligned kUnaligned = Unaligned::kByUnit;
  static constexpr Accumulate kAccumulate = Accumulate::kInPart;

  u32 planes[2][mma::kSteps][4];
  float inverse[2];  // scales of the two rows

  template <class Guard>
  SOLSTICE_DEVICE void split(float (&v)[2][16], int valid, Guard& guard) {
    guard.scale(v, inverse, valid);
#pragma unroll
    for (int r = 0; r < 2; ++r) take_planes<mma::F16>(planes, v[r], r);
  }
  SOLSTICE_DEVICE void multiply(float (&d)[kSums], u32 held, int) const {
    RegisterProduct<Tile>::run(d, planes, held, 0);
  }
  SOLSTICE_DEVICE void promote(float (&sums)[kSums], const float (&part)[kSums], u32 scales) const {
#pragma unroll
    for (int j = 0; j < kSums / 4; ++j)
      promote_scaled(sums + 4 * j, part + 4 * j, {inverse[0], inverse[1]}, ptx::load_shared_pair(scales + 32 * j));
  }
  SOLSTICE_DEVICE static void finish(float (&)[kSums]) {}
};

}  // namespace solstice::mainloop
