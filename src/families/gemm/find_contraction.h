// Recognition of a kernel's product in its equations.
#pragma once

#include "families/gemm/contraction.h"

namespace solstice::families::gemm {

// Errors, each with its reason: illegal_knobs where the kernel's equations are no product of this family; not_yet
// where they are one that it does not run yet.
Result<Contraction> find_contraction(const ir::Program& program, const ir::Kernel& kernel);

}  // namespace solstice::families::gemm
