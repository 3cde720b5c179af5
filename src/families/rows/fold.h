// The second kernel of a reduction whose rows are taken in parts: one block a row folds what the parts' blocks found and
// evaluates the row's outputs.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "families/rows/reduction.h"
#include "families/rows/shape.h"

namespace solstice::families::rows {

constexpr int kFoldThreads = 128;

struct Fold {
  std::string code;  // a kernel without includes
  std::string entry;
  std::vector<int> reads, writes;  // tensors: the pointers before and after those to the partial results
  int64_t shared_bytes = 0;
};

Result<Fold> emit_fold(const ir::Program& program, const ir::Kernel& kernel, Shape& shape, const std::vector<Partial>& partials, int parts);

}  // namespace solstice::families::rows
