#include "ir/interpret/rounding.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace solstice::ir {
namespace {

struct Format {
  int mantissa;        // stored bits
  int least_exponent;  // of a normal number
  double largest;
  double overflow;  // values beyond the largest become this
};

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

constexpr Format kF16 = {10, -14, 65504, kInf};
constexpr Format kBF16 = {7, -126, 3.3895313892515355e38, kInf};
constexpr Format kE4M3 = {3, -6, 448, kNan};
constexpr Format kE5M2 = {2, -14, 57344, kInf};

// Rounds to `mantissa` bits after the leading one, or to the spacing of the subnormals.
double to_format(double value, const Format& f) {
  if (!std::isfinite(value) || value == 0) return std::isinf(value) ? std::copysign(f.overflow, value) : value;
  int exponent = 0;
  std::frexp(value, &exponent);  // value = m * 2^exponent, m in [0.5, 1)
  const int unit = std::max(exponent - 1, f.least_exponent) - f.mantissa;
  const double out = std::ldexp(std::nearbyint(std::ldexp(value, -unit)), unit);
  return std::abs(out) > f.largest ? std::copysign(f.overflow, value) : out;
}

// Drops the bits that a normal number has no place for.
double cut_to_format(double value, const Format& f) {
  value = std::clamp(value, -f.largest, f.largest);
  if (std::abs(value) < std::ldexp(1.0, f.least_exponent)) return to_format(value, f);
  return std::bit_cast<double>(std::bit_cast<uint64_t>(value) & ~((uint64_t{1} << (52 - f.mantissa)) - 1));
}

// A format that C++ has no type for; null: any other.
const Format* format_of(DType dtype) {
  switch (dtype) {
    case DType::kF16:
      return &kF16;
    case DType::kBF16:
      return &kBF16;
    case DType::kE4M3:
      return &kE4M3;
    case DType::kE5M2:
      return &kE5M2;
    default:
      return nullptr;
  }
}

}  // namespace

double rounded(DType dtype, double value) {
  if (const Format* format = format_of(dtype)) return to_format(value, *format);
  switch (dtype) {
    case DType::kF64:
      return value;
    case DType::kF32:
      return static_cast<double>(static_cast<float>(value));
    case DType::kBool:
      return value != 0 ? 1 : 0;
    default:
      return std::trunc(value);
  }
}

double stored_near(DType dtype, double value) {
  if (const Format* format = format_of(dtype)) return cut_to_format(value, *format);
  if (dtype != DType::kF32) return value;
  constexpr double kLargest = std::numeric_limits<float>::max();
  return static_cast<double>(static_cast<float>(std::clamp(value, -kLargest, kLargest)));
}

IntegerRange integer_range(DType dtype) {
  switch (dtype) {
    case DType::kBool:
      return {0, 1};
    case DType::kU8:
      return {0, 255};
    case DType::kI8:
      return {-128, 127};
    case DType::kI16:
      return {-32768, 32767};
    case DType::kI32:
      return {-2147483648.0, 2147483647.0};
    case DType::kI64:
      return {-9007199254740991.0, 9007199254740991.0};  // the integers that a double counts exactly
    default:
      return {-std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
  }
}

}  // namespace solstice::ir
