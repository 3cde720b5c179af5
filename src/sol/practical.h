// The practical bound: a fusion into kernels, each timed by measured ceilings.
#pragma once

#include "ir/count.h"
#include "machine/machine.h"
#include "sol/sol.h"

namespace solstice::sol {

// Fills `kernels` and `notes` of the report and returns the bound: the sum of the kernels' times.
Result<SolBound> practical_bound(const ir::Program& program, const ir::Count& count, const machine::Machine& machine,
                                 const SolOptions& options, SolReport& report);

}  // namespace solstice::sol
