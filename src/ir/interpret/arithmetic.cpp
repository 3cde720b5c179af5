#include "ir/interpret/arithmetic.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace solstice::ir {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

double least(double a, double b) { return std::isnan(a) || std::isnan(b) ? kNan : std::min(a, b); }
double most(double a, double b) { return std::isnan(a) || std::isnan(b) ? kNan : std::max(a, b); }
double with_sign_of(double b, double rest) { return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest; }
// Of integers below 2^53 a quotient that is not whole lies further from the next whole number than rounding moves it.
double quotient_of(double a, double b) { return std::floor(a / b); }
double remainder_of(double a, double b) { return with_sign_of(b, a - b * std::trunc(a / b)); }
// Of reals, as PyTorch computes them: the rest is exact.
double real_remainder_of(double a, double b) { return with_sign_of(b, std::fmod(a, b)); }
double real_quotient_of(double a, double b) {
  if (b == 0) return a / b;
  const double rest = std::fmod(a, b);
  const double quotient = (a - rest) / b - (rest != 0 && (rest < 0) != (b < 0) ? 1 : 0);
  const double whole = std::floor(quotient);
  return quotient - whole > 0.5 ? whole + 1 : whole;
}
double sign_of(double a) { return (a > 0) - (a < 0); }  // 0 of NaN, as in PyTorch

double log_gamma(double x) {
  int sign = 0;  // the reentrant function: std::lgamma writes a global
  return ::lgamma_r(x, &sign);
}

// Integers are exact below 2^53; what lies beyond stops the interpreter elsewhere.
double common_bits(double a, double b) {
  return static_cast<double>(static_cast<int64_t>(a) & static_cast<int64_t>(b));
}

// Newton's iteration on erf, or on erfc where erf is near 1, from Winitzki's formula (2008), which is right to 2e-3.
double inverse_erf(double y) {
  if (std::isnan(y) || std::abs(y) > 1) return kNan;
  if (std::abs(y) == 1) return std::copysign(std::numeric_limits<double>::infinity(), y);
  constexpr double kA = 0.147, kPi = 3.14159265358979323846, kSlope = 1.12837916709551257390;  // 2 / sqrt(pi)
  const double size = std::abs(y), log = std::log1p(-size * size), part = 2 / (kPi * kA) + log / 2;
  double x = std::sqrt(std::sqrt(part * part - log / kA) - part);
  for (int i = 0; i < 4; ++i) {
    const double miss = size < 0.5 ? std::erf(x) - size : (1 - size) - std::erfc(x);
    const double step = miss / (kSlope * std::exp(-x * x));
    x -= step / (1 + x * step);  // Halley's
  }
  return std::copysign(x, y);
}

template <typename F>
void each(double* out, const double* a, int lanes, F&& f) {
  for (int l = 0; l < lanes; ++l) out[l] = f(a[l]);
}

template <typename F>
void each(double* out, const double* a, const double* b, int lanes, F&& f) {
  for (int l = 0; l < lanes; ++l) out[l] = f(a[l], b[l]);
}

}  // namespace

bool evaluate_op(Op op, const double* a, const double* b, int n, double* out) {
  switch (op) {
    case Op::kNeg:
      each(out, a, n, [](double x) { return -x; });
      break;
    case Op::kNot:
      each(out, a, n, [](double x) { return x == 0 ? 1.0 : 0.0; });
      break;
    case Op::kAnd:
      each(out, a, b, n, [](double x, double y) { return x != 0 && y != 0 ? 1.0 : 0.0; });
      break;
    case Op::kOr:
      each(out, a, b, n, [](double x, double y) { return x != 0 || y != 0 ? 1.0 : 0.0; });
      break;
    case Op::kAdd:
      each(out, a, b, n, [](double x, double y) { return x + y; });
      break;
    case Op::kSub:
      each(out, a, b, n, [](double x, double y) { return x - y; });
      break;
    case Op::kMul:
      each(out, a, b, n, [](double x, double y) { return x * y; });
      break;
    case Op::kDiv:
      each(out, a, b, n, [](double x, double y) { return x / y; });
      break;
    case Op::kFloorDiv:
      each(out, a, b, n, quotient_of);
      break;
    case Op::kMod:
      each(out, a, b, n, remainder_of);
      break;
    case Op::kFmod:
      each(out, a, b, n, [](double x, double y) { return std::fmod(x, y); });
      break;
    case Op::kRemainder:
      each(out, a, b, n, real_remainder_of);
      break;
    case Op::kFloorDivide:
      each(out, a, b, n, real_quotient_of);
      break;
    case Op::kPow:
      each(out, a, b, n, [](double x, double y) { return y == 2 ? x * x : std::pow(x, y); });
      break;
    case Op::kMin:
      each(out, a, b, n, least);
      break;
    case Op::kMax:
      each(out, a, b, n, most);
      break;
    case Op::kLt:
      each(out, a, b, n, [](double x, double y) { return x < y ? 1.0 : 0.0; });
      break;
    case Op::kLe:
      each(out, a, b, n, [](double x, double y) { return x <= y ? 1.0 : 0.0; });
      break;
    case Op::kEq:
      each(out, a, b, n, [](double x, double y) { return x == y ? 1.0 : 0.0; });
      break;
    case Op::kNe:
      each(out, a, b, n, [](double x, double y) { return x != y ? 1.0 : 0.0; });
      break;
    case Op::kGe:
      each(out, a, b, n, [](double x, double y) { return x >= y ? 1.0 : 0.0; });
      break;
    case Op::kGt:
      each(out, a, b, n, [](double x, double y) { return x > y ? 1.0 : 0.0; });
      break;
    case Op::kExp:
      each(out, a, n, [](double x) { return std::exp(x); });
      break;
    case Op::kExpm1:
      each(out, a, n, [](double x) { return std::expm1(x); });
      break;
    case Op::kLog:
      each(out, a, n, [](double x) { return std::log(x); });
      break;
    case Op::kLog1p:
      each(out, a, n, [](double x) { return std::log1p(x); });
      break;
    case Op::kSqrt:
      each(out, a, n, [](double x) { return std::sqrt(x); });
      break;
    case Op::kRsqrt:
      each(out, a, n, [](double x) { return 1 / std::sqrt(x); });
      break;
    case Op::kTanh:
      each(out, a, n, [](double x) { return std::tanh(x); });
      break;
    case Op::kErf:
      each(out, a, n, [](double x) { return std::erf(x); });
      break;
    case Op::kSin:
      each(out, a, n, [](double x) { return std::sin(x); });
      break;
    case Op::kCos:
      each(out, a, n, [](double x) { return std::cos(x); });
      break;
    case Op::kAbs:
      each(out, a, n, [](double x) { return std::abs(x); });
      break;
    case Op::kSign:
      each(out, a, n, sign_of);
      break;
    case Op::kFloor:
      each(out, a, n, [](double x) { return std::floor(x); });
      break;
    case Op::kCeil:
      each(out, a, n, [](double x) { return std::ceil(x); });
      break;
    case Op::kRound:
      each(out, a, n, [](double x) { return std::nearbyint(x); });
      break;
    case Op::kTrunc:
      each(out, a, n, [](double x) { return std::trunc(x); });
      break;
    case Op::kIsNan:
      each(out, a, n, [](double x) { return std::isnan(x) ? 1.0 : 0.0; });
      break;
    case Op::kIsFinite:
      each(out, a, n, [](double x) { return std::isfinite(x) ? 1.0 : 0.0; });
      break;
    case Op::kAtan2:
      each(out, a, b, n, [](double y, double x) { return std::atan2(y, x); });
      break;
    case Op::kErfInv:
      each(out, a, n, inverse_erf);
      break;
    case Op::kLgamma:
      each(out, a, n, log_gamma);
      break;
    case Op::kBitAnd:
      each(out, a, b, n, common_bits);
      break;
    default:
      return false;
  }
  return true;
}

}  // namespace solstice::ir
