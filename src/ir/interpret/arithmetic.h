// Operators over lanes (private to src/ir/interpret).
#pragma once

#include "ir/program.h"

namespace solstice::ir {

// out[l] = op(a[l], b[l]); `b` is null for an operator of one operand. False where `op` is none of numbers alone.
bool evaluate_op(Op op, const double* a, const double* b, int lanes, double* out);

}  // namespace solstice::ir
