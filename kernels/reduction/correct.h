// Corrections of partial results around a part's own maximum or mean to the row's (src/families/reduction/online.h).
#pragma once

#include "math/special.h"
#include "reduction/reduce.h"

namespace solstice::reduction {

// A part's maximum as the center of its exponentials, which are then right for +Inf and NaN, as the row's maximum is
// the same; those of a part of nothing but -Inf are zeros.
template <typename T>
SOLSTICE_DEVICE T center_of(T maximum) {
  return maximum == reduction::lowest<T>() ? T(0) : maximum;
}
// The factor from exponentials around a part's own center to those around the row's. Finite where the row's center is:
// zeros stay zeros.
template <typename T>
SOLSTICE_DEVICE T factor_of(T own, T center) {
  if (own == center) return T(1);
  const T factor = static_cast<T>(math::exponential(own - center));
  constexpr T kLarge = sizeof(T) == 8 ? T(1.7e308) : T(3e38);
  return math::is_finite(center) && factor > kLarge ? kLarge : factor;
}

// Of a part of `elements`: what makes its sum its mean.
SOLSTICE_DEVICE double share_of(int elements) { return elements > 0 ? 1.0 / elements : 0.0; }
// A part's sum as the row's would be if all parts were like it: `share` is the row's length over the part's.
template <typename T>
SOLSTICE_DEVICE T as_of_row(T sum, double share) {
  return static_cast<T>(static_cast<double>(sum) * share);
}
// A part's sum of (x - own)^2, of `count` elements whose sum is `total`, for another center.
template <typename T, typename C, typename S>
SOLSTICE_DEVICE T corrected_squares(T sum, C own, C center, S total, int count) {
  const double distance = static_cast<double>(center) - static_cast<double>(own);
  const double off = static_cast<double>(total) - static_cast<double>(own) * count;
  return sum + static_cast<T>(distance * (distance * count - 2 * off));
}

}  // namespace solstice::reduction
