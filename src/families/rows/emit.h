// Kernels that make one or more sweeps over each row.
#pragma once

#include "base/result.h"
#include "families/rows/kernel_text.h"
#include "families/rows/settings.h"

namespace solstice::families::rows {

Result<KernelText> emit_kernel(const ir::Program& program, const ir::Kernel& kernel, Shape& shape,
                               const Settings& settings);

}  // namespace solstice::families::rows
