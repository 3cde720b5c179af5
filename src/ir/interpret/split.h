// Reductions taken apart by what their conditions relate: `sum[c,i,r where u == 2*i+r-1](e)` becomes
// `sum[i,r where u == 2*i+r-1](sum[c](e))`, so that a point is tested once and not for every `c`.
#pragma once

#include "ir/program.h"

namespace solstice::ir {

ExprRef split_domains(const ExprRef& root);

}  // namespace solstice::ir
