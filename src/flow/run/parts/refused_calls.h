// Which calls of a stage cannot be ours: no equations, a draw, no kernel family.
#pragma once

#include "flow/run/parts/cut.h"
#include "flow/run/problem/problem.h"
#include "flow/run/stages/prepare/open.h"
#include "flow/run/state/run.h"

namespace solstice::flow {

struct LookedAt {
  Refused refused;  // empty: all of it can be planned
  std::string key;  // of the stage's problem, as its run has it (RunRecord::problem_key)
  Problem problem;  // bound, where all of it can be planned
};

// Of the stage that the oracle has entered. Errors: those of tracing it.
Result<LookedAt> refused_calls(Run& run, const Opened& opened);

}  // namespace solstice::flow
