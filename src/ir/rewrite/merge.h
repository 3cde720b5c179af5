// Two indices that only occur as `stride*i + j` are one index.
#pragma once

#include <vector>

#include "ir/program.h"

namespace solstice::ir {

// The stride if i and j occur in `roots` only in indices of reads, affine, and always as multiples of stride*i + j;
// else 0.
int64_t stride_between(const std::vector<ExprRef>& roots, int i, int j);
// The expression with index `merged` in place of stride*i + j.
ExprRef with_merged(const ExprRef& root, int i, int j, int merged);
ExprRef to_expr(const Affine& affine);

}  // namespace solstice::ir
