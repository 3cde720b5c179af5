// Facts about a candidate's kernels: what was left to their families, and their needs by their equations.
#pragma once

#include <vector>

#include "evaluate/candidate.h"
#include "record/kernel_facts.h"

namespace solstice::evaluate {

// In the program's order. The program is legal on the setting's machine. Errors: those of sol::needs_of_kernels() and
// of families.
Result<std::vector<KernelFacts>> facts_of_kernels(const ir::Program& program, const Setting& setting);

}  // namespace solstice::evaluate
