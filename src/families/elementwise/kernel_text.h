// CUDA text of a kernel that walks nests, and what its launch needs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace solstice::families::elementwise {

struct KernelText {
  std::string code;
  std::string entry;
  std::vector<int> parameters;  // tensors, in the order of the kernel's pointers: all read, then all written
  int64_t blocks = 0;
};

}  // namespace solstice::families::elementwise
