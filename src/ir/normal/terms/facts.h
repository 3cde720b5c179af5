// Consequences of conditions on integers: affine forms of index variables, quotients and remainders, by
// Fourier-Motzkin elimination.
#pragma once

#include <optional>
#include <vector>

#include "ir/normal/terms/pool.h"

namespace solstice::ir::normal {

// Is it e >= 0, e > 0, e == 0 or e != 0? Comparisons with what may be infinite have two sides.
bool compares_with_zero(const Pool& pool, const Term& condition);

bool implied(const Pool& pool, const std::vector<TermId>& known, TermId condition);
bool contradictory(const Pool& pool, const std::vector<TermId>& known);

// Is there a point in the box of the binders that satisfies the conditions, whatever the other indices? Tried: corners,
// the middle, and the other indices' own values.
bool has_point(const Pool& pool, const std::vector<int>& binders, const std::vector<TermId>& conditions);

// The same set of points with fewer conditions: without those that follow from the others, and without the sides of an
// `or` that cannot hold. Nothing: no point satisfies them.
std::optional<std::vector<TermId>> tidied(Pool& pool, std::vector<TermId> conditions);

}  // namespace solstice::ir::normal
