// CUDA text of a rows kernel, and what its launch needs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "families/reduction/reduction_text.h"

namespace solstice::families::rows {

using reduction::Partial;

struct KernelText {
  std::string code;
  std::string entry;
  std::vector<int> parameters;  // tensors, in the order of the kernel's pointers
  int64_t blocks = 0;
  int64_t shared_bytes = 0;
  std::vector<Partial> partials;  // if rows are split: pointers to these follow `parameters`
};

}  // namespace solstice::families::rows
