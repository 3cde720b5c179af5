// Where the predicted time of a scheduled program goes: a row a kernel (record/kernel_table.h).
#pragma once

#include "evaluate/candidate.h"
#include "evaluate/kernel_facts.h"
#include "record/kernel_table.h"

namespace solstice::evaluate {

// `costs` and `facts` are of the checked program's kernels; without facts rows have no bound.
KernelTable kernel_table(const Checked& checked, const Setting& setting, const std::vector<KernelCost>& costs,
                         const std::vector<KernelFacts>& facts);

// The same of a text. Errors: program_invalid with its diagnostics; those of costs_of().
Result<KernelTable> kernel_table(const std::string& text, const Setting& setting);

}  // namespace solstice::evaluate
