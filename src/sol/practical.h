// The practical bound: a fusion into kernels, each timed by measured ceilings.
#pragma once

#include "ir/count.h"
#include "machine/machine.h"
#include "sol/fusion.h"
#include "sol/options.h"
#include "sol/report.h"

namespace solstice::sol {

// Fills `kernels` and `notes` of the report and returns the bound: the sum of the kernels' times.
Result<SolBound> practical_bound(const ir::Program& program, const ir::Count& count, const machine::Machine& machine,
                                 const SolOptions& options, SolReport& report);

// The same of kernels that are given: what each moves and computes, without launches and waits.
Result<std::vector<std::vector<SolTerm>>> terms_of_kernels(const ir::Program& program, const ir::Count& count,
                                                           const machine::Machine& machine, const SolOptions& options,
                                                           const std::vector<FusedKernel>& kernels);

}  // namespace solstice::sol
