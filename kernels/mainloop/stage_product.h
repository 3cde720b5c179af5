// Products of one stage on the tensor cores: 64 rows of A by kN columns of B, both in shared memory as planes.
#pragma once

#include "mainloop/math.h"
#include "mma/descriptor.h"

namespace solstice::mainloop {

// kPlaneA, kPlaneB: bytes from one plane of an operand to the next.
template <class Math, mma::Major kMajorA, mma::Major kMajorB, int kN, int kPlaneA, int kPlaneB>
struct StageProduct {
  static constexpr int kRegisters = kN / 2;
  using Instruction = mma::Wgmma<typename Math::Type, kN, kMajorA == mma::Major::kMN, kMajorB == mma::Major::kMN>;

  // Adds the product of one plane of each to `d`, or begins with it (`fresh`: a bool, or a type with one's value).
  template <class Fresh>
  SOLSTICE_DEVICE static void multiply(float (&d)[kRegisters], u32 a, u32 b, Fresh fresh) {
#pragma unroll
    for (int k = 0; k < mma::kSteps; ++k)
      Instruction::run(d, mma::descriptor<kMajorA>(a, k), mma::descriptor<kMajorB>(b, k), k > 0 || !fresh);
  }

  // All products of a stage, smallest first, so that they are not truncated away: planes (i, j) by descending i + j, as
  // far as they matter.
  template <bool kFresh>
  SOLSTICE_DEVICE static void run(float (&d)[kRegisters], u32 a, u32 b) {
    if constexpr (Math::kPlanes == 3) {
      planes<kFresh>(d, a, b, 2, 0);
      planes<false>(d, a, b, 0, 2);
      planes<false>(d, a, b, 1, 1);
      planes<false>(d, a, b, 1, 0);
      planes<false>(d, a, b, 0, 1);
    } else if constexpr (Math::kPlanes == 2) {
      planes<kFresh>(d, a, b, 1, 0);
      planes<false>(d, a, b, 0, 1);
    }
    planes<kFresh && Math::kPlanes == 1>(d, a, b, 0, 0);
  }

 private:
  template <bool kFresh>
  SOLSTICE_DEVICE static void planes(float (&d)[kRegisters], u32 a, u32 b, int plane_a, int plane_b) {
    multiply(d, a + plane_a * kPlaneA, b + plane_b * kPlaneB, kFresh);
  }
};

}  // namespace solstice::mainloop
