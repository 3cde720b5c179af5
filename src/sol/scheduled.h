// Needs of the kernels of a scheduled program, each by its equations: against their measured times, how much of
// the machine they use.
#pragma once

#include <vector>

#include "record/kernel_facts.h"
#include "sol/sol.h"

namespace solstice::sol {

// By resource, of each kernel in the program's order, at measured ceilings; nothing of those that run at load. Bytes
// count once, whatever a kernel reads again; intermediates that fit in half of L2 stay there; products count at the
// fastest math that the policy allows. Errors: those of analyse().
Result<std::vector<std::vector<ResourceNeed>>> needs_of_kernels(const ir::Program& program,
                                                                const machine::Machine& machine,
                                                                const SolOptions& options);

}  // namespace solstice::sol
