// Static knowledge of integer expressions: their linear forms and the intervals of their values.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "codegen/interner.h"
#include "ir/program.h"

namespace solstice::codegen {

// Closed interval. Arithmetic saturates: what leaves 64 bits becomes the whole range, so an interval never lies.
struct Interval {
  int64_t lo = INT64_MIN;
  int64_t hi = INT64_MAX;

  static Interval point(int64_t v) { return {v, v}; }
  bool within(int64_t low, int64_t high) const { return lo >= low && hi <= high; }
  bool fits_int() const { return within(INT32_MIN, INT32_MAX); }
  bool operator==(const Interval&) const = default;
};
Interval operator+(Interval a, Interval b);
Interval operator-(Interval a, Interval b);
Interval operator*(Interval a, Interval b);
Interval join(Interval a, Interval b);
// Of the quotient, rounded down, and the remainder with the divisor's sign. By 0 both are 0 (kernels/math/division.h).
Interval floor_div(Interval a, Interval b);
Interval floor_mod(Interval a, Interval b);
Interval values_of(DType dtype);  // of an integer format (bool: 0..1); others: everything

// The linear form of an integer expression over indices, using their extents to take `(c*i + j) // c` apart.
// Nothing where it is not linear (gathers, products of indices).
std::optional<ir::Affine> linear_form(const Interner& indices, const ir::ExprRef& expression);

Interval interval_of(const Interner& indices, const ir::Affine& form);
Interval interval_of(const Interner& indices, const ir::Program& program, const ir::ExprRef& expression);

ir::Affine add(const ir::Affine& a, const ir::Affine& b);
ir::Affine scale(const ir::Affine& a, int64_t factor);

}  // namespace solstice::codegen
