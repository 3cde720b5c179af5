// Products of a streamed operand on the tensor cores: 64 rows of A, which the threads of a warpgroup hold as planes in
// registers, by kN columns of B, in shared memory.
#pragma once

#include "mainloop/held_source.h"
#include "mma/wgmma_held.h"

// part: main loop

namespace solstice::mainloop {

// The accumulator that an instruction begins with.
enum class ScaleOut { kZero, kOne };

template <class Tile>
struct RegisterProduct {
  static constexpr int kRegisters = Tile::kN / 2;
  using Instruction = mma::WgmmaHeld<typename Tile::Math::Type, Tile::kN, Tile::kMajor == mma::Major::kMN>;

  // kCount instructions along k, from number `first` on of the box at `b`.
  template <ScaleOut kScaleOut, int kCount>
  SOLSTICE_DEVICE static void multiply(float (&d)[kRegisters], const u32 (&a)[kCount][4], u32 b, int first) {
#pragma unroll
    for (int k = 0; k < kCount; ++k)
      Instruction::run(d, a[k], mma::descriptor<Tile::kMajor>(b, first + k), kScaleOut == ScaleOut::kOne || k > 0);
  }

  // All products of planes, smallest first, as in stage_product.h.
  template <int kPlanes, int kCount>
  SOLSTICE_DEVICE static void run(float (&d)[kRegisters], const u32 (&a)[kPlanes][kCount][4], u32 b, int first) {
    static_assert(kPlanes == 2 || kPlanes == 3);
    constexpr ScaleOut kZero = ScaleOut::kZero, kOne = ScaleOut::kOne;
    if constexpr (kPlanes == 3) {
      multiply<kZero>(d, a[2], b, first);
      multiply<kOne>(d, a[0], b + 2 * Tile::kBoxBytes, first);
      multiply<kOne>(d, a[1], b + Tile::kBoxBytes, first);
    }
    multiply<kPlanes == 2 ? kZero : kOne>(d, a[1], b, first);
    multiply<kOne>(d, a[0], b + Tile::kBoxBytes, first);
    multiply<kOne>(d, a[0], b, first);
  }
};

}  // namespace solstice::mainloop
