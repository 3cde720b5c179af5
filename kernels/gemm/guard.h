// The range guard of scaled fp16 splits: can every element of A and B be represented well enough? Free of PTX.
//
// A split keeps |x| * s in two fp16 planes, s a power of two that puts the largest element of a chunk (64 k of one row
// of A or column of B) into [2^14, 2^15). Every element is then off by at most 2^-23 of itself or, below 2^-2 ("lost"),
// by at most 2^-25. For one chunk of one output element, with f the fractions of the chunk's non-zero elements that are
// lost, and g, h the fractions of A's elements below 2^(14-i) and B's below 2^(14-j), i + j = 16 ("deep"): at least
// 1 - g - h of the products are 2^12 or more, while the error is at most 2^-25 * 2^15 for f of them, so that
//     error / sum |a||b| <= 2^-22 * (f_A + f_B) / (1 - g - h).
// The guard demands f_A + f_B <= 1 - g - h for one pair (i, j) of (4, 12), (8, 8), (12, 4): the loss stays under 2^-22
// of sum |a||b| for every output element, and is zero on all but a few elements for well-scaled data. (Where zeros of A
// and B do not coincide the fractions are those of the non-zero elements: zeros are exact.)
//
// A word holds the worst chunk a block has seen, four fractions in units of 1/64, rounded up: below 2^10 (depth 4),
// below 2^6 (8), below 2^2 (12), lost. 255 in the last: not finite, or so large that scales could overflow.
#pragma once

#include "ptx/types.h"

namespace solstice::gemm {

inline constexpr int kChunk = 64;               // k that share a scale, and a promotion
inline constexpr u32 kUnrepresentable = 255u << 24;
inline constexpr u32 kHugeExponent = 127 + 64;  // biased exponent from which a chunk goes to the fallback

SOLSTICE_DEVICE constexpr u32 fraction(u32 word, int i) { return (word >> (8 * i)) & 255u; }

SOLSTICE_DEVICE constexpr bool range_suffices(u32 a, u32 b) {
  const u32 lost = fraction(a, 3) + fraction(b, 3);
  if (lost == 0) return true;
  for (int i = 0; i < 3; ++i) {
    if (lost + fraction(a, i) + fraction(b, 2 - i) <= 64u) return true;
  }
  return false;
}

SOLSTICE_DEVICE constexpr u32 worst(u32 a, u32 b) {
  u32 r = 0;
  for (int i = 0; i < 4; ++i) r |= larger(fraction(a, i), fraction(b, i)) << (8 * i);
  return r;
}

// Power-of-two scale of a chunk from the bits of its largest magnitude.
struct Scale {
  u32 exponent;  // biased, of the largest magnitude
  SOLSTICE_DEVICE explicit constexpr Scale(u32 largest_bits) : exponent(largest_bits >> 23) {}
  SOLSTICE_DEVICE constexpr int power() const { return smaller(141 - static_cast<int>(exponent), 126); }
  SOLSTICE_DEVICE constexpr u32 float_bits() const { return static_cast<u32>(power() + 127) << 23; }
  SOLSTICE_DEVICE constexpr u16 inverse_bfloat() const { return static_cast<u16>((127 - power()) << 7); }
  // Bits below which a magnitude lies `depth` or more binades under the scaled 2^14.
  SOLSTICE_DEVICE constexpr u32 limit(u32 depth) const { return exponent > depth ? (exponent - depth) << 23 : 0; }
};

// Counts of one chunk: non-zero elements below each limit, and zeros.
struct RangeCount {
  u32 below = 0;  // bytes: depth 4, 8, 12, 16
  u32 zeros = 0;

  SOLSTICE_DEVICE constexpr void add(u32 magnitude_bits, const Scale& scale) {
    below += magnitude_bits < scale.limit(4) ? 1u : 0u;
    below += magnitude_bits < scale.limit(8) ? 1u << 8 : 0u;
    below += magnitude_bits < scale.limit(12) ? 1u << 16 : 0u;
    below += magnitude_bits < scale.limit(16) ? 1u << 24 : 0u;
    zeros += magnitude_bits == 0 ? 1u : 0u;
  }
  // Fractions of the non-zero elements, of 16 at least: a short chunk is no reason to fall back.
  SOLSTICE_DEVICE constexpr u32 word(const Scale& scale) const {
    if (scale.exponent >= kHugeExponent) return kUnrepresentable;
    const u32 count = static_cast<u32>(kChunk) - zeros;
    const u32 base = larger(count, 16u);
    u32 r = 0;
    for (int i = 0; i < 4; ++i) {
      const u32 deep = fraction(below, i);
      const u32 nonzero = deep > zeros ? deep - zeros : 0;
      r |= smaller((64 * nonzero + base - 1) / base, 254u) << (8 * i);
    }
    return r;
  }
};

}  // namespace solstice::gemm
