// mean, var and logsumexp in terms of sum and max.
//
// var takes two passes and corrects them (Chan, Golub and LeVeque, "Algorithms for computing the sample variance",
// 1983): with m = sum(x)/n and d = x - m it is sum(d*d)/n - (sum(d)/n)**2. sum(d) is zero but for the rounding of m, so
// a `mean` of the same data anywhere in the kernel becomes m + sum(d)/n, right to the last place: data of one value
// has exactly that mean, whatever the order of summation. It costs one addition an element in a pass that is made
// anyway; a mean on its own stays one pass.
//
// logsumexp is shifted by the maximum where that is finite.
#pragma once

#include <vector>

#include "codegen/interner.h"
#include "ir/program.h"

namespace solstice::codegen {

// The right sides of one kernel, in place. They are of `interner`, before and after.
void expand_reducers(Interner& interner, const std::vector<ir::ExprRef*>& roots);

}  // namespace solstice::codegen
