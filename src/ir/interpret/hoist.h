// Reductions that depend on few of the indices around them become equations of their own, so that they are
// evaluated once (`max[n](x[m,n])` inside an equation for `y[m,n]`).
#pragma once

#include "ir/program.h"

namespace solstice::ir {

// A program with the same meaning; hidden tensors are locals whose names begin with '$'.
Program hoist_reductions(const Program& program);

}  // namespace solstice::ir
