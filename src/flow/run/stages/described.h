// What the report says of the search: every candidate, the verdict, the winner's launches and clocks, and what bounds
// it.
#pragma once

#include "flow/run/state/run.h"

namespace solstice::flow {

// Errors: the winner's plan cannot be read.
Status describe_search(Session& state);

}  // namespace solstice::flow
