// Reductions over the rows of a product (a sum, a maximum, logsumexp, mean, variance along N), in the kernel that
// multiplies. A part of a row is kPartColumns of its columns. The warp that has them in registers computes the part's
// partial results and leaves them in a workspace [reduction][part][row]; a launch after the product (row_fold.h) folds
// a row's parts in the order of their numbers and evaluates the equations of rows. Partial results are in fp32, the
// fold is in fp64.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "codegen/epilogue.h"
#include "families/tensor_core/row_shape.h"

namespace solstice::families::tensor_core {

inline constexpr int64_t kPartColumns = 32;  // kernels/epilogue/parts.h

// A result of a part, and of a row.
struct RowReduction {
  ir::ExprRef node;
  reduction::Reduction row;                       // as the fold accumulates it
  std::optional<reduction::Corrected> corrected;  // around the part's own maximum or mean
  size_t value = 0;                               // among the epilogue's terms: the reduced one, or the x of x - m
  std::vector<size_t> factors;                    // of exp(x - m)
  size_t sum = 0;                                 // the reduction whose partial result is the m of (x - m)^2
};

struct RowResults {
  reduction::Shape shape;  // of the equations of rows; columns are the product's
  std::vector<RowReduction> reductions;
  std::vector<ir::ExprRef> terms;  // values of an element that the reductions need
  int64_t parts = 0;               // of a row
  int64_t bytes() const { return static_cast<int64_t>(reductions.size()) * parts * shape.row_count * 4; }
};

// Errors: not_yet, naming the reduction that has no such form.
Result<RowResults> row_results(const ir::Program& program, const Product& c, const codegen::EpilogueRows& rows);

// The members of the epilogue's functor that kernels/epilogue/parts.h asks for; `first_value`: of the terms.
std::string finder_text(const ir::Program& program, const Product& c, const RowResults& rows, size_t first_value);

// The center m of a corrected reduction as text: `given` says what stands for each reduction's result. Statements go to
// `before`.
using ResultText = std::function<std::string(const RowReduction&)>;
Result<std::string> center_text(const ir::Program& program, const RowResults& rows, const RowReduction& row,
                                const ResultText& given, std::string& before);

}  // namespace solstice::families::tensor_core
