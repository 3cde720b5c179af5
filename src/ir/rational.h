// Exact fractions of 64-bit integers. Every operation may fail (overflow, division by zero): the caller then leaves the
// term as it is.
#pragma once

#include <cstdint>
#include <optional>

namespace solstice::ir {

struct Rational {
  int64_t num = 0;
  int64_t den = 1;  // > 0, no common divisor with num

  static std::optional<Rational> of(int64_t num, int64_t den);
  static std::optional<Rational> of(double value);  // the decimal of at most 17 digits; nothing if it does not fit

  bool is(int64_t value) const { return den == 1 && num == value; }
  bool is_integer() const { return den == 1; }
  double value() const { return static_cast<double>(num) / static_cast<double>(den); }
  bool operator==(const Rational&) const = default;
};

inline constexpr Rational kOne{1, 1};
inline constexpr Rational kMinus{-1, 1};
inline constexpr Rational kHalf{1, 2};

bool less(Rational a, Rational b);
std::optional<Rational> add(Rational a, Rational b);
std::optional<Rational> multiply(Rational a, Rational b);
std::optional<Rational> power(Rational a, int64_t exponent);
std::optional<Rational> square_root(Rational a);  // only where it is exact

}  // namespace solstice::ir
