// Reductions taken apart by what their conditions relate: `sum[c,i,r where u == 2*i+r-1](e)` becomes
// `sum[r](sum[i where u == 2*i+r-1](sum[c](e)))`: where the conditions are affine, the longest index is bounded by the
// others and no point is tested; else a point is tested once and not for every `c`.
#pragma once

#include "ir/program.h"

namespace solstice::ir {

ExprRef split_domains(const std::vector<Index>& indices, const ExprRef& root);

// The conditions that `e` joins by `and`.
void conjuncts(const ExprRef& e, std::vector<ExprRef>& out);

}  // namespace solstice::ir
