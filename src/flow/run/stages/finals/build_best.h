// The result of a problem without a module: no drop-in, but a plan that the runtime loads (rt).
#pragma once

#include "flow/run/stages/prepare/import.h"
#include "flow/run/state/run.h"

namespace solstice::flow {

// Writes plan.json and the cubins of the best candidate into the outcome, where there are a candidate and a compiler.
// Where they cannot be built, and why there is no drop-in, the report says. Errors: those of writing files.
Status build_best(Run& run, const Opened& opened, const Imported& imported);

}  // namespace solstice::flow
