// CUDA text of a map kernel.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "families/map/nest.h"

namespace solstice::families::map {

struct Text {
  std::string code;
  std::string entry;
  std::vector<int> parameters;  // tensors, in the order of the kernel's pointers: all read, then all written
  int64_t blocks = 0;
};

Result<Text> emit_kernel(const ir::Program& program, const ir::Kernel& kernel, std::vector<Nest>& nests,
                         const Settings& settings);

}  // namespace solstice::families::map
