// Finalists timed in turn with the original (contest.h), by the judge and the oracle of a run.
#pragma once

#include <vector>

#include "base/result.h"
#include "flow/run/stages/finals/finalist.h"
#include "flow/run/stages/prepare/device.h"

namespace solstice::flow {

// Fills timing, span, activities and the time by kernel. A finalist that fails now is refused; one that memory has no
// room for with the others stays as it is, to be timed later. At least one is timed or refused. Errors: judging
// itself failed, or the original cannot be timed.
Status time_in_turn(Run& run, const Measurable& measurable, const std::vector<Finalist*>& finalists);

}  // namespace solstice::flow
