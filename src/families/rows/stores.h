// Stores of a rows kernel: outputs along the row, outputs with one value a row, and the partial results of its parts.
#pragma once

#include <string>
#include <vector>

#include "families/reduction/reduction_text.h"
#include "families/rows/draft.h"

namespace solstice::families::rows {

// The store of one output along the row.
struct RowStore {
  const codegen::FlatEquation& equation;
  std::string name;  // "y0": of the vector
  std::string base;  // address of a vector store; "": elements are stored one by one
};

// The sweep's stores. The lanes must not be bound yet.
Result<std::vector<RowStore>> row_stores(Draft& draft, const Sweep& sweep);
// Computes and stores one lane; the lanes are bound.
Status write_store(Draft& draft, const RowStore& store, VectorText& text);

// One thread of the row stores its outputs of one value.
Result<std::string> row_output_text(Draft& draft, int depth = 0);
// The block's partial results of its row, for the fold.
std::string partials_text(const Settings& settings, const std::vector<Partial>& partials);

}  // namespace solstice::families::rows
