// Choice of a kernel's settings: the legal ones in the order of their cost, and those that a kernel's knobs ask for.
#pragma once

#include <vector>

#include "families/gemm/rules.h"
#include "families/gemm/settings.h"

namespace solstice::families::gemm {

// All legal settings among these maths, cheapest first.
std::vector<Settings> ranked_settings(const Context& context, const Problem& problem, const std::vector<Math>& maths);
// The cheapest legal setting among these maths; simt if none fits.
Settings best_settings(const Context& context, const Problem& problem, const std::vector<Math>& maths);

// Knobs as written; `auto` is resolved by cost among the maths that the numerics policy allows.
Settings settings_of(const Context& context, const ir::Kernel& kernel, const Problem& problem);

// The same for the rules.
GemmConfig config_of(const Context& context, const ir::Kernel& kernel, const Problem& problem);

}  // namespace solstice::families::gemm
