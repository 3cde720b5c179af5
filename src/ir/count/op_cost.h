// Cost of one evaluation of an operator on a GPU.
#pragma once

#include "ir/program.h"

namespace solstice::ir {

// Issue slots of the ordinary pipe, and special functions: approximate exp2, log2, reciprocal and rsqrt instructions.
struct OpCost {
  double simt = 0;
  double sfu = 0;
};

// A division's reciprocal is not in it: what divides several times by one value computes it once.
OpCost cost_of(const Expr& e);

}  // namespace solstice::ir
