// CUDA text of a map kernel.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "families/elementwise/kernel_text.h"
#include "families/elementwise/nest.h"

namespace solstice::families::map {

Result<elementwise::KernelText> emit_kernel(const ir::Program& program, const ir::Kernel& kernel,
                                            std::vector<elementwise::Nest>& nests,
                                            const elementwise::Settings& settings);

}  // namespace solstice::families::map
