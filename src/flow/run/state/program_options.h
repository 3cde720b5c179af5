// Options of a run whose problem is a program (problem/written.h), not a module.
#pragma once

#include <string>

#include "flow/run/state/options.h"

namespace solstice::flow {

// Takes the machine and the numerics that the program names where the caller leaves them out; a run that goes on has
// both already. `source`: as lang::read_program() gives it. Errors: bad_argument for options that speak of a module or
// of measuring; those of written_problem(); program_invalid where the program is looser than the run.
Status resolve_program(const std::string& source, bool resumed, OptimizeOptions& options);

}  // namespace solstice::flow
