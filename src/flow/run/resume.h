// A run's record in the store: a new one, or that of a run that was interrupted or killed and goes on under its id.
#pragma once

#include "flow/run/stages/prepare/open.h"
#include "flow/run/state/run.h"

namespace solstice::flow {

// Its record in the store: a new one, or that of the run that goes on. Error bad_argument where that one still goes on,
// or has gone on since it was resolved: it is left as it is.
Status begin_run(Run& run);

// Once the place is known, and before the record of the run says so. Error bad_argument: its trials were measured
// on another machine, or on a GPU and there is none, or results of batches are out that nobody asked to predict.
Status check_place(const Run& run, const Opened& opened);

}  // namespace solstice::flow
