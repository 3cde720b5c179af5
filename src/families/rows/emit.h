// CUDA text of a rows kernel.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "families/reduction/reduction_text.h"
#include "families/rows/settings.h"

namespace solstice::families::rows {

struct Text {
  std::string code;
  std::string entry;
  std::vector<int> parameters;  // tensors, in the order of the kernel's pointers
  int64_t blocks = 0;
  int64_t shared_bytes = 0;
  std::vector<Partial> partials;  // where rows are taken in parts: pointers to these follow `parameters`
};

Result<Text> emit_kernel(const ir::Program& program, const ir::Kernel& kernel, Shape& shape, const Settings& settings);

}  // namespace solstice::families::rows
