// Choice of a kernel's settings: the legal ones in the order of their cost, and those that a kernel's knobs ask for.
#pragma once

#include <vector>

#include "families/gemm/rules.h"
#include "families/gemm/settings.h"

namespace solstice::families::gemm {

// Knobs as written; `auto` is resolved by cost among the maths that the numerics policy allows.
Settings settings_of(const Context& context, const ir::Kernel& kernel, const Problem& problem);

// The knobs that lead to settings.
ir::Knobs knobs_of(const Settings& settings);
// A few legal settings of each form, cheapest first.
std::vector<Proposed> proposed_settings(const Context& context, const Problem& problem);

// The kernel's settings for the rules.
GemmConfig config_of(const Context& context, const ir::Kernel& kernel, const Problem& problem);

}  // namespace solstice::families::gemm
