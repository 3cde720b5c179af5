// From a product and its settings to sources, workspace and launch steps.
#pragma once

#include "families/gemm/emit.h"

namespace solstice::families::gemm {

Result<Emission> generate_steps(const Context& context, const ir::Kernel& kernel, const Problem& problem,
                                const Settings& settings);

}  // namespace solstice::families::gemm
