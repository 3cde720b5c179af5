// The range guard of scaled fp16 splits: can every element of A and B be represented well enough? Free of
// PTX.
//
// A split keeps |x| * s in two fp16 planes, s a power of two that puts the largest element of a chunk (64 k
// of one row of A or column of B) into [2^14, 2^15). Every element is then off by at most 2^-23 of itself or,
// below 2^-2 ("lost"), by at most 2^-25. For one chunk of one output element, with f the fractions of the
// chunk's non-zero elements that are lost, and g, h the fractions of A's elements below 2^(14-i) and of B's
// below 2^(14-j), i + j = 16 ("deep"): at least 1 - g - h of the products are 2^12 or more, while the error
// is at most 2^-25 * 2^15 for f of them, so that
//     error / sum |a||b| <= 2^-22 * (f_A + f_B) / (1 - g - h).
// The guard demands f_A + f_B <= 1 - g - h for one pair (i, j) of (4, 12), (8, 8), (12, 4): the loss stays
// under 2^-22 of sum |a||b| for every output element, and is zero on all but a few elements of well-scaled
// data. (Where zeros of A and B do not coincide the fractions are those of the non-zero elements: zeros are
// exact.)
#pragma once

#include "ptx/types.h"

namespace solstice::gemm {

inline constexpr int kChunk = 64;  // k that share a scale, and a promotion
// Inverse scales as stored: a bfloat for A, whose rows each thread reads twice a chunk, a float for B, whose
// columns it reads by the dozen.
inline constexpr int kScaleBytesA = 2, kScaleBytesB = 4;
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

// Worst fractions over chunks. What is counted are elements kept: `above[i]` at 2^10, 2^6, 2^2 or more
// (depths 4, 8, 12), and at 2^-2 or more (not lost). An element within a binade above a limit may count as
// part of one.
struct Range {
  float below[4] = {0, 0, 0, 0};

  SOLSTICE_DEVICE constexpr void add(const Scale& scale, float nonzero, const float (&above)[4]) {
    // Of 16 elements at least: a chunk with few non-zero elements is no reason to fall back.
    const float unit = 1.f / larger(nonzero, 16.f);
    for (int i = 0; i < 4; ++i) below[i] = larger(below[i], (nonzero - above[i]) * unit);
    if (!scale.representable()) below[3] = 4.f;
  }
  // Counts at depth 8 alone (the caller sets below[0] and below[2] to 2: everything may lie there): of a chunk whose 64
  // elements are all kept, and of any chunk.
  SOLSTICE_DEVICE constexpr void add_full(float above8) { below[1] = larger(below[1], (64.f - above8) * (1.f / 64.f)); }
  SOLSTICE_DEVICE constexpr void add_lossy(bool representable, float nonzero, float above8, float kept) {
    add(Scale(0), nonzero, {nonzero, above8, nonzero, kept});
    if (!representable) below[3] = 4.f;
  }
  // Four bytes in units of 1/128, rounded up.
  SOLSTICE_DEVICE constexpr u32 word() const {
    u32 r = 0;
    for (int i = 0; i < 4; ++i) r |= smaller(static_cast<u32>(below[i] * 128.f + 0.99f), 255u) << (8 * i);
    return r;
  }
};

SOLSTICE_DEVICE constexpr bool range_suffices(u32 a, u32 b) {
  const u32 lost = (a >> 24) + (b >> 24);
  if (lost == 0) return true;
  for (int i = 0; i < 3; ++i) {
    if (lost + ((a >> (8 * i)) & 255u) + ((b >> (8 * (2 - i))) & 255u) <= 128u) return true;
  }
  return false;
}

}  // namespace solstice::gemm
