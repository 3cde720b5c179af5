// The shape of a rows kernel: which indices number the rows, which run along a row.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "codegen/access.h"
#include "codegen/flatten.h"
#include "ir/program.h"

namespace solstice::families::reduction {

// Equations over canonical indices: `row_indices` then, where an equation runs along the row (or inside a reduction),
// `column_indices`. Loops are fused neighbours of these.
struct Shape {
  codegen::FlatKernel flat;
  std::vector<codegen::Loop> rows, columns;  // outer to inner, by the strides of the primary read
  int64_t row_count = 1;
  int64_t column_count = 1;
  bool strided = false;  // neighbours in memory belong to different rows: lanes take different rows
  int primary = -1;      // the largest tensor that a reduction reads

  bool along_row(const ir::ExprRef& e) const;  // depends on a column index that no reduction binds
  bool is_column(int index) const;
};

// True if the access moves with one of the loops.
bool depends_on_any(const codegen::Access& access, const std::vector<codegen::Loop>& loops);

// Errors say which equation does not fit and what the family wants.
Result<Shape> shape_of(const ir::Program& program, const ir::Kernel& kernel);

}  // namespace solstice::families::reduction
