// The report's account of the search: every candidate, the verdict, the winner's launches and clocks, and the bound
// that limits it.
#pragma once

#include "flow/run/stages/finals/finalists.h"
#include "flow/run/stages/prepare/device.h"
#include "flow/run/stages/prepare/plan.h"

namespace solstice::flow {

// Values of the stages that a run got through; null where it ended before.
struct ReachedStages {
  const Opened* opened = nullptr;
  const Imported* imported = nullptr;
  const Bounds* bounds = nullptr;
  const Planned* planned = nullptr;
  const Measurable* measurable = nullptr;
  const Chosen* chosen = nullptr;
};

// Errors: the winner's plan cannot be read.
Status describe_search(Run& run, const ReachedStages& reached);

}  // namespace solstice::flow
