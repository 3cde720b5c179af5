// Storage formats and their conversion to and from the types that are computed with: float (f64: double), int or long
// long, bool. widen(stored) is exact; narrow<Stored>(value) rounds to nearest even with PyTorch's overflow: Inf, and
// NaN for e4m3. Integers must fit (a program whose value does not fit is in error); the low bits are stored.
#pragma once

#include "math/platform.h"
#if defined(__CUDACC__)
#include "ptx/convert.h"
#endif

namespace solstice {

#if !defined(__CUDACC__)
struct Half {
  u16 bits;
};
struct BFloat {
  u16 bits;
};
#endif

namespace math {

struct E4M3 {
  u8 bits;
};
struct E5M2 {
  u8 bits;
};
struct Bool8 {
  u8 bits;
};

SOLSTICE_DEVICE u32 bits_of(float v) {
#if defined(__CUDACC__)
  return __float_as_uint(v);
#else
  return __builtin_bit_cast(u32, v);
#endif
}
SOLSTICE_DEVICE float float_of(u32 v) {
#if defined(__CUDACC__)
  return __uint_as_float(v);
#else
  return __builtin_bit_cast(float, v);
#endif
}

// A small float format: exponent and mantissa bits, and what overflow becomes.
template <int kExponent, int kMantissa, bool kInfinite>
struct SmallFloat {
  static constexpr int kBias = (1 << (kExponent - 1)) - 1;
  static constexpr u32 kTop = (1u << (kExponent + kMantissa)) - 1;  // all ones below the sign
  // Largest finite magnitude: all exponents but the last hold numbers where there are infinities; else only the
  // all-ones pattern is taken (NaN).
  static constexpr u32 kLargest = kInfinite ? kTop - (1u << kMantissa) : kTop - 1;

  static SOLSTICE_DEVICE float decode(u32 bits) {
    const u32 sign = (bits >> (kExponent + kMantissa)) << 31;
    const u32 magnitude = bits & kTop;
    const u32 exponent = magnitude >> kMantissa;
    const u32 mantissa = magnitude & ((1u << kMantissa) - 1);
    if (magnitude > kLargest) return float_of(sign | 0x7f800000u | (kInfinite && mantissa == 0 ? 0u : 0x400000u));
    // Subnormals are mantissa * 2^(1 - bias - mantissa bits), exact in float.
    const float value = exponent == 0 ? static_cast<float>(mantissa) * float_of((128u - kBias - kMantissa) << 23)
                                      : float_of((exponent + 127u - kBias) << 23 | mantissa << (23 - kMantissa));
    return float_of(bits_of(value) | sign);
  }

  static SOLSTICE_DEVICE u32 encode(float value) {
    const u32 raw = bits_of(value);
    const u32 sign = raw >> 31 << (kExponent + kMantissa);
    const u32 magnitude = raw & 0x7fffffffu;
    const u32 overflow = kInfinite ? kTop - (1u << kMantissa) + 1 : kTop;
    if (magnitude > 0x7f800000u) return sign | kTop;
    u32 rounded;
    if (magnitude < ((128u - kBias) << 23)) {
      // Below the smallest normal number: adding a power of two rounds to the format's fixed spacing.
      const float shift = float_of((128u - kBias + 23u - kMantissa) << 23);
      rounded = bits_of(float_of(magnitude) + shift) - bits_of(shift);
    } else {
      const u32 odd = magnitude >> (23 - kMantissa) & 1u;
      const u32 near = magnitude + ((1u << (22 - kMantissa)) - 1u) + odd;
      rounded = (near >> (23 - kMantissa)) - ((127u - kBias) << kMantissa);
    }
    return sign | (rounded > kLargest ? overflow : rounded);
  }
};
using FloatE4M3 = SmallFloat<4, 3, false>;
using FloatE5M2 = SmallFloat<5, 2, true>;

SOLSTICE_DEVICE float widen(float v) { return v; }
SOLSTICE_DEVICE double widen(double v) { return v; }
SOLSTICE_DEVICE int widen(int v) { return v; }
SOLSTICE_DEVICE int widen(short v) { return v; }
SOLSTICE_DEVICE int widen(signed char v) { return v; }
SOLSTICE_DEVICE int widen(u8 v) { return v; }
SOLSTICE_DEVICE i64 widen(i64 v) { return v; }
SOLSTICE_DEVICE bool widen(Bool8 v) { return v.bits != 0; }
SOLSTICE_DEVICE float widen(E4M3 v) { return FloatE4M3::decode(v.bits); }
SOLSTICE_DEVICE float widen(E5M2 v) { return FloatE5M2::decode(v.bits); }
SOLSTICE_DEVICE float widen(BFloat v) { return float_of(static_cast<u32>(v.bits) << 16); }
SOLSTICE_DEVICE float widen(Half v) {
#if defined(__CUDACC__)
  return to_float(v);
#else
  return SmallFloat<5, 10, true>::decode(v.bits);
#endif
}

#if defined(__CUDACC__)
// As ptx/convert.h calls it.
SOLSTICE_DEVICE float to_float(E4M3 v) { return widen(v); }
SOLSTICE_DEVICE float to_float(E5M2 v) { return widen(v); }
#endif

// The float between two neighbours of which v lies, with an odd last bit unless it is exact: rounded once more to fewer
// bits it gives what rounding v at once would.
SOLSTICE_DEVICE float to_odd(double v) {
  const float near = static_cast<float>(v);
  const double back = static_cast<double>(near);
  if (back == v || v != v) return near;
  const bool beyond = v < 0 ? back < v : back > v;
  return float_of((bits_of(near) - (beyond ? 1u : 0u)) | 1u);
}
SOLSTICE_DEVICE float to_odd(float v) { return v; }
SOLSTICE_DEVICE float to_odd(bool v) { return v ? 1.0f : 0.0f; }
SOLSTICE_DEVICE float to_odd(int v) { return to_odd(static_cast<double>(v)); }
SOLSTICE_DEVICE float to_odd(i64 v) { return to_odd(static_cast<double>(v)); }

template <typename T, typename V>
SOLSTICE_DEVICE T narrow(V v) {
  if constexpr (kSame<T, Half> || kSame<T, BFloat>) {
#if defined(__CUDACC__)
    return from_float<T>(to_odd(v));
#else
    using Format = SmallFloat<kSame<T, Half> ? 5 : 8, kSame<T, Half> ? 10 : 7, true>;
    return {static_cast<u16>(Format::encode(to_odd(v)))};
#endif
  } else if constexpr (kSame<T, E4M3>) {
    return {static_cast<u8>(FloatE4M3::encode(to_odd(v)))};
  } else if constexpr (kSame<T, E5M2>) {
    return {static_cast<u8>(FloatE5M2::encode(to_odd(v)))};
  } else if constexpr (kSame<T, Bool8>) {
    return {static_cast<u8>(v != V(0))};
  } else {
    return static_cast<T>(v);
  }
}

// An explicit cast: rounds to the format and widens again.
template <typename T, typename V>
SOLSTICE_DEVICE auto rounded(V v) {
  return widen(narrow<T>(v));
}

}  // namespace math
}  // namespace solstice
