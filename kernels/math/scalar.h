// Scalar operations of the equation language that C++ does not have with the right meaning.
#pragma once

#include "math/division.h"
#include "math/storage.h"

#if !defined(__CUDACC__)
#include <cmath>
#endif

namespace solstice::math {

#if defined(__CUDACC__)
SOLSTICE_DEVICE float infinity() { return __int_as_float(0x7f800000); }
SOLSTICE_DEVICE float not_a_number() { return __int_as_float(0x7fc00000); }
#else
SOLSTICE_DEVICE float infinity() { return HUGE_VALF; }
SOLSTICE_DEVICE float not_a_number() { return NAN; }
#endif

// max and min propagate NaN, as PyTorch's do.
SOLSTICE_DEVICE float maximum(float a, float b) {
#if defined(__CUDACC__)
  float r;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
  return r;
#else
  return a != a ? a : b != b ? b : a > b ? a : b;
#endif
}
SOLSTICE_DEVICE float minimum(float a, float b) {
#if defined(__CUDACC__)
  float r;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
  return r;
#else
  return a != a ? a : b != b ? b : a < b ? a : b;
#endif
}
SOLSTICE_DEVICE double maximum(double a, double b) { return a != a ? a : b != b ? b : a > b ? a : b; }
SOLSTICE_DEVICE double minimum(double a, double b) { return a != a ? a : b != b ? b : a < b ? a : b; }
SOLSTICE_DEVICE int maximum(int a, int b) { return a > b ? a : b; }
SOLSTICE_DEVICE int minimum(int a, int b) { return a < b ? a : b; }
SOLSTICE_DEVICE i64 maximum(i64 a, i64 b) { return a > b ? a : b; }
SOLSTICE_DEVICE i64 minimum(i64 a, i64 b) { return a < b ? a : b; }

template <typename T>
SOLSTICE_DEVICE T sign(T a) {
  return static_cast<T>((a > T(0)) - (a < T(0)));
}
template <typename T>
SOLSTICE_DEVICE bool is_nan(T a) {
  return a != a;
}
template <typename T>
SOLSTICE_DEVICE bool is_finite(T a) {
  return a - a == T(0);
}

// Real to integer truncates toward zero.
template <typename T>
SOLSTICE_DEVICE i64 to_integer(T a) {
  return static_cast<i64>(a);
}

// A divisor that many numerators share: one reciprocal, then a product and its correction instead of a division.
// The quotient is within 1 ulp, exact where the plain one is (zero, but for its sign; Inf; NaN). Divisors out of the
// comfortable range are scaled, and what they divide with them.
struct Divisor {
  float value, reciprocal, scale;
};
SOLSTICE_DEVICE Divisor divisor(float b) {
  const u32 exponent = bits_of(b) >> 23 & 0xffu;
  const float scale = exponent <= 27u ? 0x1p64f : exponent >= 227u ? 0x1p-64f : 1.0f;
  const float scaled = b * scale, reciprocal = 1.0f / scaled;
  return {reciprocal == 0.0f ? 0.0f : scaled, reciprocal, scale};  // of Inf: the correction below shall be zero
}
SOLSTICE_DEVICE float divide(float a, Divisor d) {
  const float scaled = a * d.scale;
  const float q = scaled * d.reciprocal;
#if defined(__CUDACC__)
  const float corrected = fmaf(fmaf(-d.value, q, scaled), d.reciprocal, q);
#else
  const float corrected = std::fma(std::fma(-d.value, q, scaled), d.reciprocal, q);
#endif
  return is_finite(q) ? corrected : q;
}

}  // namespace solstice::math
