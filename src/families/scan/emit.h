// CUDA text of a scan kernel.
#pragma once

#include "base/result.h"
#include "families/elementwise/kernel_text.h"
#include "families/scan/shape.h"

namespace solstice::families::scan {

struct Text {
  elementwise::KernelText kernel;  // of a grid: its last parameter are the blocks' offers
  int64_t shared_bytes = 0;
  int64_t offers = 0;  // of kernels/reduction/multi_block.h, zeros at first
};

Result<Text> emit_kernel(const ir::Program& program, const ir::Kernel& kernel, Shape& shape);

}  // namespace solstice::families::scan
