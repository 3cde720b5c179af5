// Recognition of a convolution in a kernel's equations: a sum over a product of two reads, one of which lies at an
// affine combination of an output's and a summed index (forward), or under `where u == s*i + d*r - p` (transposed).
#pragma once

#include <cstdint>
#include <optional>

#include "ir/program.h"

namespace solstice::families::conv {

struct Convolution {
  int image = -1, filter = -1, result = -1;  // tensors
  int equation = -1;                         // id in the program
  const ir::Expr* node = nullptr;            // the sum
  bool transposed = false;
  int rank = 0;                                   // dimensions in which the filter slides
  int64_t groups = 1, channels = 1, filters = 1;  // of all groups
  int64_t stride = 1, dilation = 1;               // the largest of all dimensions
  int64_t pad = 0, extent = 1;                    // likewise; of the filter
};

// The kernel's only such sum; nothing where it has none, or several.
std::optional<Convolution> find_convolution(const ir::Program& program, const ir::Kernel& kernel);

}  // namespace solstice::families::conv
