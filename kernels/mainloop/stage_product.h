// Products of one stage on the tensor cores: 64 rows of A by kN columns of B, both in shared memory as planes.
#pragma once

#include "mainloop/math.h"
#include "mma/descriptor.h"

// part: main loop

namespace solstice::mainloop {

// The first product of a tile begins its sums, the others are added: as a type where that is known when compiling, else
// as a bool (true: it begins).
struct Begins {
  SOLSTICE_DEVICE constexpr operator bool() const { return true; }
};
struct Adds {
  SOLSTICE_DEVICE constexpr operator bool() const { return false; }
};

// kPlaneA, kPlaneB: bytes from one plane of an operand to the next.
template <class Math, mma::Major kMajorA, mma::Major kMajorB, int kN, int kPlaneA, int kPlaneB>
struct StageProduct {
  static constexpr int kRegisters = kN / 2;
  using Instruction = mma::Wgmma<typename Math::Type, kN, kMajorA == mma::Major::kMN, kMajorB == mma::Major::kMN>;

  // All products of a stage, smallest first, so that they are not truncated away: planes (i, j) by descending i + j, as
  // far as they matter.
  template <class Fresh>
  SOLSTICE_DEVICE static void run(float (&d)[kRegisters], u32 a, u32 b, Fresh fresh) {
    if constexpr (Math::kPlanes == 3) {
      planes(d, a, b, 2, 0, fresh);
      planes(d, a, b, 0, 2, Adds());
      planes(d, a, b, 1, 1, Adds());
      planes(d, a, b, 1, 0, Adds());
      planes(d, a, b, 0, 1, Adds());
    } else if constexpr (Math::kPlanes == 2) {
      planes(d, a, b, 1, 0, fresh);
      planes(d, a, b, 0, 1, Adds());
    }
    if constexpr (Math::kPlanes == 1)
      planes(d, a, b, 0, 0, fresh);
    else
      planes(d, a, b, 0, 0, Adds());
  }

 private:
  template <class Fresh>
  SOLSTICE_DEVICE static void planes(float (&d)[kRegisters], u32 a, u32 b, int plane_a, int plane_b, Fresh fresh) {
    const u32 of_a = a + plane_a * kPlaneA, of_b = b + plane_b * kPlaneB;
#pragma unroll
    for (int k = 0; k < mma::kSteps; ++k)
      Instruction::run(d, mma::descriptor<kMajorA>(of_a, k), mma::descriptor<kMajorB>(of_b, k), k > 0 || !fresh);
  }
};

}  // namespace solstice::mainloop
