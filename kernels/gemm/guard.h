// The range guard of scaled fp16 splits: can every element of A and B be represented well enough? Free of
// PTX.
//
// A split keeps |x| * s in two fp16 planes, s a power of two that puts the largest element of a chunk (64 k
// of one row of A or column of B) into [2^14, 2^15). Every element is then off by at most 2^-23 of itself or,
// if it is not zero and below 2^-2 ("lost"), by at most 2^-25.
//
// Take one chunk of n k of one output element. Let L be how many of A's elements and of B's are lost, and above_A(i)
// and above_B(j) how many reach 2^(14-i) and 2^(14-j), i + j = 16. At least above_A(i) + above_B(j) - n places have
// both, with products of 2^12 or more, while each loss is at most 2^-25 * 2^15. So
//     error / sum |a||b| <= 2^-22    if    L_A + L_B <= above_A(i) + above_B(j) - n.
// With depth(i) = 32 + n/2 - above(i) + L, that is depth_A(i) + depth_B(j) <= 64. Zeros reach nothing: they count as
// deep, since a zero of one operand takes the other's element away. Chunks without a lost element on either side need
// no bound, and a chunk of zeros alone has products of zero. So the guard keeps, over all chunks and over those that
// lose something, the worst depth at i = 4, 8, 12, and demands for one i (of each side that loses)
//     worst lossy depth(i) of it + worst depth(16-i) of the other <= 64.
// The loss then stays under 2^-22 of sum |a||b| for every output element, and is zero on all but a few elements of
// well-scaled data. Operands of which about two thirds are zeros fail where the other loses anything.
#pragma once

#include "ptx/types.h"

namespace solstice::gemm {

inline constexpr int kChunk = 64;               // k that share a scale, and a promotion
inline constexpr u32 kHugeExponent = 127 + 64;  // biased exponent from which a chunk goes to the fallback

// Power-of-two scale of a chunk from the bits of its largest magnitude (NaN bits count as the largest).
struct Scale {
  u32 exponent;  // biased, of the largest magnitude
  SOLSTICE_DEVICE explicit constexpr Scale(u32 largest_bits) : exponent(largest_bits >> 23) {}
  SOLSTICE_DEVICE constexpr int power() const { return smaller(141 - static_cast<int>(exponent), 126); }
  SOLSTICE_DEVICE constexpr u32 float_bits() const { return static_cast<u32>(power() + 127) << 23; }
  SOLSTICE_DEVICE constexpr u32 inverse_float_bits() const { return static_cast<u32>(127 - power()) << 23; }
  SOLSTICE_DEVICE constexpr bool representable() const { return exponent < kHugeExponent; }
};

// One block's counts, in bytes of half elements: depths at 4, 8, 12 (from the lowest byte) of all chunks, and of
// those with a lost element; 255 where a chunk has no scale. A byte-wise maximum joins words.
struct alignas(8) GuardWord {
  u32 all, lossy;
};
inline constexpr float kUnrepresentable = 1000.f;  // deeper than any chunk is

SOLSTICE_DEVICE constexpr u32 guard_byte(float depth) { return smaller(static_cast<u32>(depth * 2.f + 0.99f), 255u); }

// Counts chunks. `valid` k of a chunk exist; `above[i]` of its elements reach 2^10, 2^6, 2^2 (depths 4, 8, 12) and 2^-2
// (not lost). An element within a binade above a limit may count as part of one.
struct Range {
  float all[3] = {0, 0, 0}, lossy[3] = {0, 0, 0};

  SOLSTICE_DEVICE constexpr void add(const Scale& scale, float valid, float nonzero, const float (&above)[4]) {
    const float lost = scale.representable() ? nonzero - above[3] : kUnrepresentable;
    for (int i = 0; i < 3; ++i) {
      const float depth = nonzero > 0.f ? 32.f + 0.5f * valid - above[i] + lost : 0.f;
      all[i] = larger(all[i], depth);
      lossy[i] = larger(lossy[i], lost > 0.f ? depth : 0.f);
    }
  }
  // A chunk of 64 k, all of them nonzero and none lost.
  SOLSTICE_DEVICE constexpr void add_kept(const float (&above)[3]) {
    for (int i = 0; i < 3; ++i) all[i] = larger(all[i], 64.f - above[i]);
  }
  SOLSTICE_DEVICE constexpr GuardWord word() const {
    GuardWord out{0, 0};
    for (int i = 0; i < 3; ++i) {
      out.all |= guard_byte(all[i]) << (8 * i);
      out.lossy |= guard_byte(lossy[i]) << (8 * i);
    }
    return out;
  }
};

// The same for the pair (8, 8) alone, in fewer instructions.
//
// Or for a scale over a whole line of n k and one plane (rounded to 11 bits), of which an element is lost below 2^-14
// and then off by at most 2^-25. With n - above_A(8) + L_A / 1024 and the same of B at most n together, (L_A + L_B) /
// 1024 places or more have products of 2^12, against losses of 2^-10 each: at most 2^-12 of sum |a||b|, half of what
// rounding may do.
struct RangeAt8 {
  float all = 0, lossy = 0;

  // A chunk of 64 k, all of them kept.
  SOLSTICE_DEVICE constexpr void add_kept(float above8) { all = larger(all, 64.f - above8); }
  SOLSTICE_DEVICE constexpr void add(bool fits, float valid, float nonzero, float above8, float kept) {
    const float lost = fits ? nonzero - kept : kUnrepresentable;
    const float depth = nonzero > 0.f ? 32.f + 0.5f * valid - above8 + lost : 0.f;
    all = larger(all, depth);
    lossy = larger(lossy, lost > 0.f ? depth : 0.f);
  }
  SOLSTICE_DEVICE constexpr void add_line(bool fits, float length, float nonzero, float above8, float lost) {
    float depth = 64.f / length * (length - above8 + lost / 1024.f) + 0.01f;  // a word rounds down by less than that
    depth = !fits ? kUnrepresentable : nonzero > 0.f ? depth : 0.f;
    all = larger(all, depth);
    lossy = larger(lossy, lost > 0.f || !fits ? depth : 0.f);
  }
  SOLSTICE_DEVICE constexpr GuardWord word() const {
    constexpr u32 kUnknown = 0x00ff00ffu;
    const u32 loses = guard_byte(lossy);
    return {kUnknown | guard_byte(all) << 8, loses ? kUnknown | loses << 8 : 0};
  }
};

// Is every loss of one side small beside what the other leaves?
SOLSTICE_DEVICE constexpr bool loss_is_bounded(u32 lossy, u32 other) {
  if (lossy == 0) return true;
  for (int i = 0; i < 3; ++i) {
    if (((lossy >> (8 * i)) & 255u) + ((other >> (8 * (2 - i))) & 255u) <= 128u) return true;
  }
  return false;
}

SOLSTICE_DEVICE constexpr bool range_suffices(const GuardWord& a, const GuardWord& b) {
  return loss_is_bounded(a.lossy, b.all) && loss_is_bounded(b.lossy, a.all);
}

}  // namespace solstice::gemm
