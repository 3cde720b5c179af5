// Functions that few programs have, as the device's own library or the host's computes them.
#pragma once

#include "math/platform.h"

#if !defined(__CUDACC__)
#include <cmath>
#endif

namespace solstice::math {

// base^exponent modulo 2^64; below an exponent of 0 the real power without its fraction, of 0 itself 0, as PyTorch has
// it.
SOLSTICE_DEVICE i64 whole_power(i64 base, i64 exponent) {
  if (exponent < 0) return base == 1 ? 1 : base == -1 ? 1 - 2 * (exponent & 1) : 0;
  u64 product = 1, square = static_cast<u64>(base);
  for (; exponent > 0; exponent >>= 1) {
    if (exponent & 1) product *= square;
    square *= square;
  }
  return static_cast<i64>(product);
}

#if defined(__CUDACC__)
SOLSTICE_DEVICE float angle(float y, float x) { return ::atan2f(y, x); }
SOLSTICE_DEVICE double angle(double y, double x) { return ::atan2(y, x); }
SOLSTICE_DEVICE float inverse_erf(float y) { return ::erfinvf(y); }
SOLSTICE_DEVICE double inverse_erf(double y) { return ::erfinv(y); }
SOLSTICE_DEVICE float log_gamma(float x) { return ::lgammaf(x); }
SOLSTICE_DEVICE double log_gamma(double x) { return ::lgamma(x); }
#else
SOLSTICE_DEVICE float angle(float y, float x) { return std::atan2(y, x); }
SOLSTICE_DEVICE double angle(double y, double x) { return std::atan2(y, x); }
SOLSTICE_DEVICE float log_gamma(float x) { return std::lgamma(x); }
SOLSTICE_DEVICE double log_gamma(double x) { return std::lgamma(x); }
// The host has none: Halley's iteration on erfc, from Winitzki's formula (2008), which is right to 2e-3.
SOLSTICE_DEVICE double inverse_erf(double y) {
  const double size = std::fabs(y);
  if (!(size < 1)) return size == 1 ? std::copysign(HUGE_VAL, y) : NAN;
  const double log = std::log1p(-size * size), part = 4.330746750799873 + log / 2;
  double x = std::sqrt(std::sqrt(part * part - log / 0.147) - part);
  for (int i = 0; i < 4; ++i) {
    const double miss = size < 0.5 ? std::erf(x) - size : (1 - size) - std::erfc(x);
    const double step = miss / (1.1283791670955126 * std::exp(-x * x));
    x -= step / (1 + x * step);
  }
  return std::copysign(x, y);
}
SOLSTICE_DEVICE float inverse_erf(float y) { return static_cast<float>(inverse_erf(static_cast<double>(y))); }
#endif

}  // namespace solstice::math
