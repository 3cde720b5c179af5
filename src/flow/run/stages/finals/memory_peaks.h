// Peaks of GPU memory of the original and its replacement.
#pragma once

#include "flow/run/problem/problem.h"
#include "flow/run/state/run.h"

namespace solstice::flow {

// Measures the peaks of a replacement that is faster. A verified win stays one where peaks cannot be measured: the
// report then says so and lacks them.
void measure_memory(Run& run, const Problem& problem);

}  // namespace solstice::flow
