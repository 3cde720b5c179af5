#include "ir/rational.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <string>

#include "base/integer.h"

namespace solstice::ir {
namespace {

std::optional<Rational> reduced(Wide num, Wide den) {
  if (den == 0) return std::nullopt;
  Wide a = num < 0 ? -num : num, b = den < 0 ? -den : den;
  while (b != 0) {
    const Wide rest = a % b;
    a = b, b = rest;
  }
  if (a == 0) return Rational{0, 1};
  num /= den < 0 ? -a : a;
  den = (den < 0 ? -den : den) / a;
  constexpr Wide kMost = std::numeric_limits<int64_t>::max();
  if (num > kMost || num < -kMost || den > kMost) return std::nullopt;
  return Rational{static_cast<int64_t>(num), static_cast<int64_t>(den)};
}

std::optional<int64_t> exact_root(int64_t value) {
  if (value < 0) return std::nullopt;
  const auto root = static_cast<int64_t>(std::llround(std::sqrt(static_cast<double>(value))));
  return static_cast<Wide>(root) * root == value ? std::optional(root) : std::nullopt;
}

}  // namespace

std::optional<Rational> Rational::of(int64_t num, int64_t den) { return reduced(num, den); }

std::optional<Rational> Rational::of(double value) {
  if (!std::isfinite(value)) return std::nullopt;
  const std::string text = fmt::format("{}", value);  // the shortest that reads back as the same double
  const size_t e = text.find('e');
  int64_t digits = 0;
  int exponent = e == std::string::npos ? 0 : std::atoi(text.c_str() + e + 1);
  bool fraction = false;
  for (const char c : text.substr(0, e)) {
    if (c == '.') fraction = true;
    if (c < '0' || c > '9') continue;
    digits = digits * 10 + (c - '0');
    exponent -= fraction ? 1 : 0;
  }
  std::optional<Rational> out = of(value < 0 ? -digits : digits, 1);
  const auto ten = power(Rational{10, 1}, exponent);
  return out && ten ? multiply(*out, *ten) : std::nullopt;
}

bool less(Rational a, Rational b) { return static_cast<Wide>(a.num) * b.den < static_cast<Wide>(b.num) * a.den; }

std::optional<Rational> add(Rational a, Rational b) {
  return reduced(static_cast<Wide>(a.num) * b.den + static_cast<Wide>(b.num) * a.den, static_cast<Wide>(a.den) * b.den);
}

std::optional<Rational> multiply(Rational a, Rational b) {
  return reduced(static_cast<Wide>(a.num) * b.num, static_cast<Wide>(a.den) * b.den);
}

std::optional<Rational> power(Rational a, int64_t exponent) {
  if (exponent < 0) return a.num == 0 ? std::nullopt : power(*Rational::of(a.den, a.num), -exponent);
  if (exponent > 64) return std::nullopt;
  std::optional<Rational> out = Rational{1, 1};
  for (int64_t i = 0; i < exponent && out; ++i) out = multiply(*out, a);
  return out;
}

std::optional<Rational> square_root(Rational a) {
  const auto num = exact_root(a.num), den = exact_root(a.den);
  return num && den ? Rational::of(*num, *den) : std::nullopt;
}

}  // namespace solstice::ir
