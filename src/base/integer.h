// Integer arithmetic that C++ lacks.
#pragma once

#include <cstdint>
#include <optional>

namespace solstice {

__extension__ typedef __int128 Wide;  // holds products of two integers of 64 bits

// The largest q with q * b <= a; b is not 0.
constexpr int64_t floor_div(int64_t a, int64_t b) { return a / b - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0); }

// The smallest q with q * b >= a, for a >= 0 and b > 0.
constexpr int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

// The smallest multiple of b that is at least a, for a >= 0 and b > 0.
constexpr int64_t round_up(int64_t a, int64_t b) { return ceil_div(a, b) * b; }

// a + factor * b; false where that does not fit.
constexpr bool add_scaled(int64_t a, int64_t factor, int64_t b, int64_t& out) {
  return !__builtin_mul_overflow(factor, b, &b) && !__builtin_add_overflow(a, b, &out);
}

// a to the power of b, if b is not negative and the power fits.
constexpr std::optional<int64_t> integer_power(int64_t a, int64_t b) {
  if (b < 0) return std::nullopt;
  if (b > 64) b = 64 + b % 2;  // of 0, 1 and -1 the same; of others it does not fit
  int64_t out = 1;
  for (; b > 0; --b) {
    if (__builtin_mul_overflow(out, a, &out)) return std::nullopt;
  }
  return out;
}

}  // namespace solstice
