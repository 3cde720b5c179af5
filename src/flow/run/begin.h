// Beginning of a run: its report, and its record in the store.
#pragma once

#include "flow/run/problem/problem.h"
#include "flow/run/state/run.h"

namespace solstice::flow {

void begin_report(Run& run);
// The record of machine, versions and bounds, as far as they are known: for readers of the store, and for the next
// search of this problem.
Status describe_run(Run& run);
// A module given as an object has no text of its own: its equations identify the problem. Error bad_argument where the
// run that goes on is of another.
Status identify_object(Run& run, const Problem& problem);

}  // namespace solstice::flow
