// Waits that serialise wgmma: for all of them, between two that add to the same accumulators, in one straight piece of
// code or from one round of a loop to the next. ptxas does so where it cannot keep the accumulators apart (its notes
// C7510 to C7519), and people who wait for all at the end of a round.
#pragma once

#include <vector>

#include "diagnose/sass/instruction.h"

namespace solstice::diagnose::sass {

std::vector<size_t> drained_wgmma(const Function& function);  // indices of the waits

}  // namespace solstice::diagnose::sass
