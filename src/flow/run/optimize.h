// The main job: a PyTorch module in, a verified and measured replacement out.
#pragma once

#include "base/result.h"
#include "flow/run/optimize_outcome.h"
#include "flow/run/state/engine.h"
#include "flow/run/state/options.h"
#include "record/progress.h"

namespace solstice::flow {

// Bad input, a missing device and the like are errors; a problem that cannot be made faster, or has an operator
// without a rule, is an outcome (`not_faster`, `unsupported`). On Ctrl-C (base/process/interrupt.h) the best so far is
// kept and reported.
Result<OptimizeOutcome> optimize(const OptimizeOptions& options, Progress& progress);
Result<OptimizeOutcome> optimize(const OptimizeOptions& options, Progress& progress, Engine& engine);

}  // namespace solstice::flow
