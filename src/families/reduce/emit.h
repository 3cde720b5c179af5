// CUDA text of a reduce kernel, and of the kernel that folds what the parts of its rows came to.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "families/fold_text.h"
#include "families/reduce/tile_layout.h"
#include "families/reduction/reduction_text.h"

namespace solstice::families::reduce {

struct Text {
  std::string code;
  std::string entry;
  std::vector<int> parameters;  // tensors, in the order of the kernel's pointers
  int64_t shared_bytes = 0;
  std::vector<reduction::Partial> partials;  // if rows are split: pointers to these follow `parameters`
};

// Error: illegal_knobs where the kernel wants more than one round of reductions.
Result<Text> emit_kernel(const ir::Program& program, const ir::Kernel& kernel, reduction::Shape& shape,
                         const Layout& layout);

Result<FoldLaunch> emit_fold(const ir::Program& program, const ir::Kernel& kernel, reduction::Shape& shape,
                             const std::vector<reduction::Partial>& partials, const Layout& layout);

}  // namespace solstice::families::reduce
