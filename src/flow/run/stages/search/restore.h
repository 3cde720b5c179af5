// The search tree of a run when its search begins.
#pragma once

#include "flow/run/state/run.h"

namespace solstice::flow {

// The tree of the run that goes on, by its events; else one that knows the original alone. A run that had no GPU so far
// takes `original` from now on; 0: it is not timed here.
Status restore_tree(Run& run, Seconds original);

}  // namespace solstice::flow
