// A module of which a part cannot be ours is cut into stages and PyTorch's calls (docs/partial.md). Each stage is
// optimised as a problem of its own, alone in its sandboxed runner. Then the drop-in of all of them, with PyTorch's
// calls in between, is checked and timed in the oracle's process.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "flow/run/optimize_outcome.h"
#include "flow/run/problem/problem.h"
#include "flow/run/stages/prepare/open.h"
#include "flow/run/state/run.h"

namespace solstice::flow {

// It may be a part that stops the whole: no equations, a draw, no kernel family.
bool may_be_cut(const Run& run, const Status& done);

// A run of the stage that the oracle has entered, with the processes of the module's.
using OptimizePart = std::function<Result<OptimizeOutcome>(const OptimizeOptions&, Progress&)>;

enum class Parted {
  kNone,   // no part of the module is ours
  kLater,  // some may be, but the run takes turns with other problems: a run of its own searches them
  kDone,   // the report has its outcome, headline and parts, and the drop-in is written, where there is one
};

// Where there is none, `why_not` says why the module cannot be cut, "" where the parts are too small. Errors: those of
// the oracle and of a run; interrupted.
Result<Parted> optimize_parts(Run& run, const OptimizePart& optimize, Opened& opened, const Problem& whole,
                              std::string& why_not);

}  // namespace solstice::flow
