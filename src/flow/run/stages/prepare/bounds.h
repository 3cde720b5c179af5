// Lower bounds of the problem's time on the machine, by its bytes and its work.
#pragma once

#include "flow/run/stages/prepare/import.h"
#include "flow/run/stages/prepare/open.h"
#include "flow/run/state/run.h"
#include "sol/sol.h"

namespace solstice::flow {

struct Bounds {
  sol::SolReport sol;  // no measured time can be below it

  Seconds io() const { return sol.io.time; }
  Seconds practical() const { return sol.practical.time; }
};

// Errors: bad_argument for an unknown numerics policy; those of sol::analyse().
Result<Bounds> compute_bounds(Run& run, const Opened& opened, const Imported& imported);

// Lowers the bounds to those of other equations of the same problem: no rung may lie above what they could reach.
Status lower_bounds(Run& run, const Opened& opened, const Imported& imported, const ir::Program& rewritten,
                    Bounds& bounds);

}  // namespace solstice::flow
