// Loops whose steps hand on nothing but the states of linear recurrences of first order, h = a * h + b, element by
// element: each is a scan. What a step computes of them goes nowhere but out of the loop.
#pragma once

#include "import/loops/unrolled.h"

namespace solstice::importer {

// There is a state; each depends on no other in a circle, and each step is a linear function of it, without reductions.
// `a` and `b` may be of anything that does not depend on that state.
bool is_of_linear_recurrences(const Draft& draft, const Unrolled& loop);

// A step computes something of the states that it does not hand on.
bool has_readers(const Unrolled& loop);

}  // namespace solstice::importer
