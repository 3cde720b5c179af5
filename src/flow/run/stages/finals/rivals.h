// Baselines next to plain eager: eager with TF32 allowed, and torch.compile. They are timed in one process, in blocks
// in turn with eager, under the protocol of the headline.
#pragma once

#include "flow/run/stages/finals/finalists.h"
#include "flow/run/stages/prepare/device.h"

namespace solstice::flow {

// A baseline that cannot be measured is a row that says so.
Status time_rivals(Run& run, const Measurable& measurable, const Chosen& chosen);

}  // namespace solstice::flow
