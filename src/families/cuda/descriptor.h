// TMA descriptors of `tma=x(box=64x64, swizzle=128)`: extents, strides and box of a tensor, or of a view that takes a
// tensor's elements at strides, as the hardware takes them.
#pragma once

#include "base/result.h"
#include "ir/program.h"
#include "record/plan.h"

namespace solstice::families::cuda {

// `entry` names a tensor (ir::KnobValue::tensor). Box and extents are written outermost first, as the tensor's
// dimensions are; the descriptor has them in the order of strides, smallest first. Error illegal_knobs, with the
// reason.
Result<TensorMap> descriptor_of(const ir::Program& program, const ir::KnobValue& entry);

}  // namespace solstice::families::cuda
