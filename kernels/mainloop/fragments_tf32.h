// TF32: values are rounded and are fragments as they stand. Sums stay in the accumulator.
#pragma once

#include "mainloop/fragments.h"

// part: main loop

namespace solstice::mainloop {

template <class Tile>
struct Fragments<Tf32, Tile> {
  static_assert(Tile::kMajor == mma::Major::kK, "wgmma reads TF32 along k");
  static constexpr int kParts = 1, kSums = Tile::kN / 2;
  static constexpr Unaligned kUnaligned = Unaligned::kByUnit;
  static constexpr Accumulate kAccumulate = Accumulate::kInSums;

  u32 words[Tile::kBoxes][mma::kSteps][4];  // [half of the chunk][instruction, of 8 k][register]

  template <class Guard>
  SOLSTICE_DEVICE void split(const float (&v)[2][16], int, Guard&) {
#pragma unroll
    for (int q = 0; q < 8; ++q) {
#pragma unroll
      for (int i = 0; i < 4; ++i)
        words[q / mma::kSteps][q % mma::kSteps][i] = ptx::bits_of(ptx::round_tf32(v[i % 2][2 * q + i / 2]));
    }
  }
  SOLSTICE_DEVICE void multiply(float (&d)[kSums], u32 held, int) const {
    using Product = RegisterProduct<Tile>;
#pragma unroll
    for (int half = 0; half < Tile::kBoxes; ++half)
      Product::template multiply<ScaleOut::kOne>(d, words[half], held + half * Tile::kBoxBytes, 0);
  }
  SOLSTICE_DEVICE static void finish(float (&)[kSums]) {}
};

}  // namespace solstice::mainloop
