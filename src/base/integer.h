// Integer arithmetic that C++ lacks.
#pragma once

#include <cstdint>

namespace solstice {

// The largest q with q * b <= a; b is not 0.
constexpr int64_t floor_div(int64_t a, int64_t b) { return a / b - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0); }

// The smallest q with q * b >= a, for a >= 0 and b > 0.
constexpr int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

// The smallest multiple of b that is at least a, for a >= 0 and b > 0.
constexpr int64_t round_up(int64_t a, int64_t b) { return ceil_div(a, b) * b; }

}  // namespace solstice
