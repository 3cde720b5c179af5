// Conditions on index points: evaluating them, and bringing comparisons into a form that bounds one index.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/program.h"

namespace solstice::ir {

bool has_read(const ExprRef& e);

// Value of an integer or boolean expression without reads; `at` holds a value for each index of its equation.
int64_t value_of(const Expr& e, const std::vector<int64_t>& at);

// c * last + rest >= 0 (or == 0), `rest` over other indices.
struct IndexBound {
  int64_t last = 0;
  Affine rest;
  bool equal = false;
};
// Nothing where the condition is no affine comparison.
std::optional<IndexBound> bound_on(const ExprRef& condition, bool negated, int last);

// Values low..high of one index; meet() keeps those that satisfy a bound, given the other indices.
struct IndexRange {
  int64_t low = 0;
  int64_t high = -1;
  void meet(const IndexBound& c, const std::vector<int64_t>& point);
  void meet(const IndexBound& c, int64_t rest);  // where `rest` has this value
};

}  // namespace solstice::ir
