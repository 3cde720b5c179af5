// Inputs and results that trials are verified and timed with, and the time of the original.
#pragma once

#include "flow/run/stages/prepare/import.h"
#include "flow/run/state/run.h"

namespace solstice::flow {

// A case to verify trials with, another for timing where memory has room, and the original's time. Errors: too_large;
// those of the oracle.
Result<TrialInputs> prepare_inputs(Run& run, const Imported& imported);

// Leaves the problem and its inputs to the next run of the engine.
void keep_prepared(Run& run, Imported& imported, TrialInputs& inputs);

}  // namespace solstice::flow
