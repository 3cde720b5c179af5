// The last launch of a product whose rows are reduced: folds each row's parts (row_results.h), evaluates the equations
// of rows and stores their results.
#pragma once

#include <string>
#include <vector>

#include "families/tensor_core/row_results.h"

namespace solstice::families::tensor_core {

struct Fold {
  std::string source;
  std::vector<int> reads, writes;  // tensors: pointer parameters before and after that of the workspace
  int64_t blocks = 1;
};

Result<Fold> emit_fold(const ir::Program& program, const std::string& entry, const Product& c, const RowResults& rows);

}  // namespace solstice::families::tensor_core
