// The briefing of a run's language model.
#pragma once

#include <functional>

#include "flow/run/stages/prepare/bounds.h"
#include "flow/run/stages/prepare/plan.h"

namespace solstice::flow {

// Nothing where no model takes part. `left`: time of the search that is left. The stages' values outlive the run's
// agent's last question.
Status brief_agent(Run& run, const Opened& opened, const Imported& imported, const Bounds& bounds,
                   const Planned& planned, std::function<Seconds()> left);

}  // namespace solstice::flow
