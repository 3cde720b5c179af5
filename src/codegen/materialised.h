// Which tensors a kernel writes.
#pragma once

#include <vector>

#include "ir/program.h"

namespace solstice::codegen {

// Tensors that the kernel must write: outputs, buffers' new values, and what others read.
std::vector<int> materialised(const ir::Program& program, const ir::Kernel& kernel);

}  // namespace solstice::codegen
