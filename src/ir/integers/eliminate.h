// Fourier-Motzkin elimination with integer tightening.
#pragma once

#include <vector>

#include "ir/integers/integers.h"

namespace solstice::ir {

// True if no integer point satisfies `form >= 0` for every form. False means: not shown (the method is sound,
// and stops where the system grows too large).
bool infeasible(std::vector<Linear> system);

}  // namespace solstice::ir
