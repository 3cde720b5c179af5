// CUDA text of a scan kernel around its body, and what its launch needs.
#pragma once

#include <cstdint>
#include <string>

#include "families/elementwise/draft.h"
#include "families/elementwise/kernel_text.h"
#include "families/scan/shape.h"

namespace solstice::families::scan {

inline constexpr int kRounds = 4;  // of the grid, that offers have room for (scan/grid.h)

struct Text {
  elementwise::KernelText kernel;  // of a grid: its last parameter are the blocks' offers
  int64_t shared_bytes = 0;
  int64_t offers = 0;  // of kernels/reduction/multi_block.h, zeros at first
};

// The body of the kernel: the statements of a thread's place, then those of its tiles.
struct KernelParts {
  std::string thread, body;
  int64_t scans = 0;
  int64_t shared_bytes = 0;
};

Text kernel_text(const elementwise::Draft& draft, const ir::Kernel& kernel, const Shape& shape,
                 const KernelParts& parts);

}  // namespace solstice::families::scan
