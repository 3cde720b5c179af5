// Which calls of a stage cannot be ours: no equations, a draw, no kernel family.
#pragma once

#include "flow/run/parts/cut.h"
#include "flow/run/stages/prepare/open.h"
#include "flow/run/state/run.h"

namespace solstice::flow {

// Of the stage that the oracle has entered. Empty: all of it can be planned. Errors: those of tracing it.
Result<Refused> refused_calls(Run& run, const Opened& opened);

}  // namespace solstice::flow
