// Recurrences that only accumulate take the `where` form, part of the pass `algebra`.
#pragma once

#include "ir/program.h"

namespace solstice::ir::normal {

// h[t] = h[t-1 else c] + x[t] becomes h[t] = c + sum[s where s <= t](x[s]); products, maxima and minima alike.
Program with_prefix_sums(const Program& program);

}  // namespace solstice::ir::normal
