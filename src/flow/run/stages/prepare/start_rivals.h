// The process that prepares the opponents: eager with TF32 allowed, and torch.compile.
#pragma once

#include "flow/run/state/run.h"

namespace solstice::flow {

// The opponents are timed in this run: it has a GPU and is asked for baselines.
bool times_rivals(const Run& run);

// Opponents that the oracle cannot start ahead are prepared when they are asked for, and fail there if they must. An
// oracle that is gone, or was given up, is an error.
Status start_rivals(Run& run);

// The same while the problem is imported, where the host has processors to spare.
Status start_rivals_early(Run& run);

}  // namespace solstice::flow
