// The arithmetic of products: the element type of the tensor cores' operands, how many planes an operand is
// split into (x = plane 0 + plane 1 + ...), whether planes carry a scale per chunk of k or per line (a row of A, a
// column of B), whether partial sums are promoted into fp32 registers every chunk (the tensor cores truncate when they
// add; promotion keeps that from growing with k).
#pragma once

#include "mma/wgmma.h"

namespace solstice::mainloop {

// Inverse scales as stored: the exponent's byte for A, whose rows each thread reads twice a chunk, a float for B, whose
// columns it reads by the dozen.
inline constexpr int kScaleBytesA = 1, kScaleBytesB = 4;

enum class Scales { kNone, kOfChunks, kOfLines };  // lines: sums are multiplied by both scales when they are done
enum class Sums { kInPlace, kPromoted };

template <class Type_, int kPlanes_, Scales kScales = Scales::kNone, Sums kSums = Sums::kInPlace>
struct Math {
  using Type = Type_;
  static constexpr int kPlanes = kPlanes_;
  static constexpr bool kScaled = kScales == Scales::kOfChunks, kLineScaled = kScales == Scales::kOfLines,
                        kPromoted = kSums == Sums::kPromoted;
  static constexpr int kLift = 0;  // operands are multiplied by 2^kLift before they are split
  static_assert(!kScaled || kPromoted, "scales are applied when a chunk is promoted");
};

using Fp16x3 = Math<mma::F16, 2, Scales::kOfChunks, Sums::kPromoted>;
using Fp16Scaled = Math<mma::F16, 1, Scales::kOfLines>;
using Fp16 = Math<mma::F16, 1>;
using Bf16 = Math<mma::BF16, 1>;
using Bf16x3 = Math<mma::BF16, 2, Scales::kNone, Sums::kPromoted>;
using Bf16x6 = Math<mma::BF16, 3, Scales::kNone, Sums::kPromoted>;
// fp32 values are multiples of 2^-149, and so lifted ones of 2^-133, the smallest number that bf16 has: planes hold
// every value, or it is so large that bf16 rounds it to infinity.
struct Bf16x6Lifted : Bf16x6 {
  static constexpr int kLift = 16;
};
using Tf32 = Math<mma::TF32, 1>;
using Tf32x3 = Math<mma::TF32, 2, Scales::kNone, Sums::kPromoted>;
// Tensor cores add products of operands of a byte with about 14 bits, so these sums are promoted too.
template <class A, class B>
using Fp8 = Math<mma::FP8<A, B>, 1, Scales::kNone, Sums::kPromoted>;

}  // namespace solstice::mainloop
