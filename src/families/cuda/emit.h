// Emits a clause: its source as one compile unit, and one launch.
#pragma once

#include "families/cuda/launch.h"

namespace solstice::families::cuda {

// The kernel's parameters are those of `args`, in their order: of a tensor or view a pointer to its first element, of
// one that `tma` names a descriptor by value (`const __grid_constant__`, 128 bytes), of a dim or integer a `long long`.
// Error illegal_knobs: the first rule that the clause breaks.
Result<Emission> emit(const ir::Kernel& kernel, const CudaLaunch& launch);

// Nothing is known of given code but what it must move: the bytes that its equations read and write, each once, at the
// rate of copying, and a launch. A kernel is seldom as fast, so predictions of such programs are lower limits.
Result<Cost> cost_of(const Context& context, const ir::Kernel& kernel);

}  // namespace solstice::families::cuda
