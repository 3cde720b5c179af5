// Baselines next to plain eager: eager with TF32 allowed, and torch.compile. They are timed in one process, in blocks
// in turn with eager, under the protocol of the headline.
#pragma once

#include "flow/run/stages/finals/finalists.h"
#include "flow/run/stages/prepare/device.h"

namespace solstice::flow {

inline constexpr const char* kRivalsDetail = "eager, TF32, torch.compile";  // of the stage

// Rows of the report, next to the module as it is now; one that cannot be measured says so. `eager`: the only row where
// none is timed. Returns the times as text, or why there are none.
std::string time_rivals(Run& run, const Baseline& eager);

// The same as a stage of a run, of a module that is ours as a whole.
Status time_rivals(Run& run, const Measurable& measurable, const Chosen& chosen);

}  // namespace solstice::flow
