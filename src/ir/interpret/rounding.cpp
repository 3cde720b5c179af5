#include "ir/interpret/rounding.h"

#include <cmath>
#include <limits>

namespace solstice::ir {
namespace {

struct Format {
  int mantissa;        // stored bits
  int least_exponent;  // of a normal number
  double largest;
  double overflow;  // what is beyond becomes this
};

// Rounds to `mantissa` bits after the leading one, or to the spacing of the subnormals.
double to_format(double value, const Format& f) {
  if (!std::isfinite(value) || value == 0) return std::isinf(value) ? std::copysign(f.overflow, value) : value;
  int exponent = 0;
  std::frexp(value, &exponent);  // value = m * 2^exponent, m in [0.5, 1)
  const int unit = std::max(exponent - 1, f.least_exponent) - f.mantissa;
  const double out = std::ldexp(std::nearbyint(std::ldexp(value, -unit)), unit);
  return std::abs(out) > f.largest ? std::copysign(f.overflow, value) : out;
}

}  // namespace

double rounded(DType dtype, double value) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  switch (dtype) {
    case DType::kF64:
      return value;
    case DType::kF32:
      return static_cast<double>(static_cast<float>(value));
    case DType::kF16:
      return to_format(value, {10, -14, 65504, kInf});
    case DType::kBF16:
      return to_format(value, {7, -126, 3.3895313892515355e38, kInf});
    case DType::kE4M3:
      return to_format(value, {3, -6, 448, kNan});
    case DType::kE5M2:
      return to_format(value, {2, -14, 57344, kInf});
    case DType::kBool:
      return value != 0 ? 1 : 0;
    default:
      return std::trunc(value);
  }
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
      return {-9007199254740992.0, 9007199254740992.0};  // what a double counts exactly
    default:
      return {-std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
  }
}

}  // namespace solstice::ir
