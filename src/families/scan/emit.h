// CUDA text of a scan kernel.
#pragma once

#include "base/result.h"
#include "families/scan/kernel_text.h"
#include "families/scan/shape.h"

namespace solstice::families::scan {

Result<Text> emit_kernel(const ir::Program& program, const ir::Kernel& kernel, Shape& shape);

}  // namespace solstice::families::scan
