// Quotients and remainders.
//
// Of integers they are exact for all operands. A divisor of 0, where the language stops, gives 0; a quotient that its
// type does not hold (the most negative number by -1) wraps. Divisions by constants compile to multiplications.
//
// Of reals they are PyTorch's, by an exact fmod: 1 // 0.1f is 9, since 0.1f is more than a tenth, though 1 / 0.1f
// rounds to 10.
#pragma once

#include "math/platform.h"

#if !defined(__CUDACC__)
#include <cmath>
#endif

namespace solstice::math {

// Sums and products modulo 2^64: signed overflow, which compilers take to be impossible, would be whatever they like.
SOLSTICE_DEVICE i64 wrapped_sum(i64 a, i64 b) { return static_cast<i64>(static_cast<u64>(a) + static_cast<u64>(b)); }
SOLSTICE_DEVICE i64 wrapped_difference(i64 a, i64 b) {
  return static_cast<i64>(static_cast<u64>(a) - static_cast<u64>(b));
}
SOLSTICE_DEVICE i64 wrapped_product(i64 a, i64 b) {
  return static_cast<i64>(static_cast<u64>(a) * static_cast<u64>(b));
}
SOLSTICE_DEVICE int wrapped_difference(int a, int b) {
  return static_cast<int>(static_cast<u32>(a) - static_cast<u32>(b));
}

// The quotient toward zero and the rest of it, which has the dividend's sign.
template <typename T>
struct Division {
  T quotient, rest;
};
template <typename T>
SOLSTICE_DEVICE Division<T> division(T a, T b) {
  if (b == 0) return {0, 0};
  if (b == -1) return {wrapped_difference(T(0), a), 0};
  const T q = a / b;
  return {q, a - q * b};
}

template <typename T>
SOLSTICE_DEVICE T trunc_div(T a, T b) {
  return division(a, b).quotient;
}
template <typename T>
SOLSTICE_DEVICE T floor_div(T a, T b) {
  const Division<T> d = division(a, b);
  return d.quotient - (d.rest != 0 && (d.rest < 0) != (b < 0) ? 1 : 0);
}
template <typename T>
SOLSTICE_DEVICE T ceiling_div(T a, T b) {
  const Division<T> d = division(a, b);
  return d.quotient + (d.rest != 0 && (d.rest < 0) == (b < 0) ? 1 : 0);
}
// The rest with the divisor's sign.
template <typename T>
SOLSTICE_DEVICE T floor_mod(T a, T b) {
  const T rest = division(a, b).rest;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

// A quotient of 32-bit numbers that may be 2^31: the most negative number by -1.
SOLSTICE_DEVICE i64 trunc_div_wide(int a, int b) { return b == -1 ? -static_cast<i64>(a) : trunc_div(a, b); }
SOLSTICE_DEVICE i64 floor_div_wide(int a, int b) { return b == -1 ? -static_cast<i64>(a) : floor_div(a, b); }
SOLSTICE_DEVICE i64 ceiling_div_wide(int a, int b) { return b == -1 ? -static_cast<i64>(a) : ceiling_div(a, b); }

#if defined(__CUDACC__)
SOLSTICE_DEVICE float fmod(float a, float b) { return ::fmodf(a, b); }
SOLSTICE_DEVICE double fmod(double a, double b) { return ::fmod(a, b); }
SOLSTICE_DEVICE float whole_below(float a) { return ::floorf(a); }
SOLSTICE_DEVICE double whole_below(double a) { return ::floor(a); }
#else
SOLSTICE_DEVICE float fmod(float a, float b) { return std::fmod(a, b); }
SOLSTICE_DEVICE double fmod(double a, double b) { return std::fmod(a, b); }
SOLSTICE_DEVICE float whole_below(float a) { return std::floor(a); }
SOLSTICE_DEVICE double whole_below(double a) { return std::floor(a); }
#endif

template <typename T>
SOLSTICE_DEVICE T remainder(T a, T b) {
  const T rest = math::fmod(a, b);
  return rest != T(0) && (rest < T(0)) != (b < T(0)) ? rest + b : rest;
}

// The rounded quotient of the multiple of b is near a whole number, from either side.
template <typename T>
SOLSTICE_DEVICE T floor_divide(T a, T b) {
  if (b == T(0)) return a / b;
  const T rest = math::fmod(a, b);
  const T below = rest != T(0) && (rest < T(0)) != (b < T(0)) ? T(1) : T(0);
  const T quotient = (a - rest) / b - below;
  const T whole = whole_below(quotient);
  return quotient - whole > T(0.5) ? whole + T(1) : whole;
}

}  // namespace solstice::math
