// Linear forms over integer variables, and ranges of integers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "base/integer.h"

namespace solstice::ir {

// Values low..high. An end beyond 2^52 is not kept, since sums of such ends would not fit: the range is then open on
// that side, and holds every integer there.
struct ValueRange {
  static constexpr int64_t kMost = int64_t{1} << 52;
  static constexpr int64_t kNoLow = std::numeric_limits<int64_t>::min();
  static constexpr int64_t kNoHigh = std::numeric_limits<int64_t>::max();

  int64_t low = kNoLow;
  int64_t high = kNoHigh;

  static ValueRange of(Wide low, Wide high) {
    return {low <= -kMost ? kNoLow : static_cast<int64_t>(std::min<Wide>(low, kMost)),
            high >= kMost ? kNoHigh : static_cast<int64_t>(std::max<Wide>(high, -kMost))};
  }
  bool has_low() const { return low != kNoLow; }
  bool has_high() const { return high != kNoHigh; }
  bool bounded() const { return has_low() && has_high(); }
  // Of value // divisor; divisor > 0.
  ValueRange quotient(int64_t divisor) const {
    return {has_low() ? floor_div(low, divisor) : low, has_high() ? floor_div(high, divisor) : high};
  }
};

ValueRange operator+(const ValueRange& a, const ValueRange& b);
ValueRange operator*(const ValueRange& a, const ValueRange& b);

// constant + sum of coefficient * variable, variables ascending.
struct Linear {
  int64_t constant = 0;
  std::vector<std::pair<int, int64_t>> terms;
  bool overflow = false;  // a number did not fit: nothing is known of the form
};

// a + factor * b
Linear plus(const Linear& a, const Linear& b, int64_t factor = 1);

}  // namespace solstice::ir
