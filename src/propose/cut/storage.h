// Formats of intermediates in memory.
#pragma once

#include <vector>

#include "ir/program.h"

namespace solstice::propose {

// A format for every tensor of `problem`; declared ones keep theirs. Integers have i64. A real has that of its
// operands, as PyTorch's own intermediates have: f16 and bf16 stay so, narrower or mixed ones become f32. Statistics
// have f32 (f64 of such operands): reductions that are no products of matrices, and what is computed from these alone.
// They are small, PyTorch's kernels keep them in f32 too, and they do not widen what else their readers read.
std::vector<DType> storage_formats(const ir::Program& problem);

}  // namespace solstice::propose
