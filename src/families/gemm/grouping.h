// Requirements of grouped products on their equations and operands.
#pragma once

#include "families/gemm/contraction.h"

namespace solstice::families::gemm {

inline constexpr int64_t kMostGroups = 512;  // whose offsets lie in shared memory, with the ring

// Errors, each with its reason: illegal_knobs where `grouped` contradicts the equations, not_yet where no kernel takes
// these operands.
Status require_grouping(const ir::Program& program, const ir::Kernel& kernel, const Contraction& product);

}  // namespace solstice::families::gemm
