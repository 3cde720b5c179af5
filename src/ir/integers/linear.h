// Linear forms over integer variables, and ranges of integers.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace solstice::ir {

inline constexpr int64_t kUnbounded = int64_t{1} << 52;

struct ValueRange {
  int64_t low = -kUnbounded;
  int64_t high = kUnbounded;
  bool bounded() const { return low > -kUnbounded && high < kUnbounded; }
};

// constant + sum of coefficient * variable, variables ascending.
struct Linear {
  int64_t constant = 0;
  std::vector<std::pair<int, int64_t>> terms;
  bool overflow = false;  // a number did not fit: nothing is known of the form
};

// a + factor * b
Linear plus(const Linear& a, const Linear& b, int64_t factor = 1);

}  // namespace solstice::ir
