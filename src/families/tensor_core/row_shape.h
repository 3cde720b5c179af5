// Rows of a product as the analysis of reductions sees them, and the one place where this folder names that analysis.
#pragma once

#include "families/reduction/online.h"
#include "families/reduction/phases.h"
#include "families/reduction/reduction_text.h"
#include "families/reduction/row_access.h"
#include "families/reduction/shape.h"
#include "families/tensor_core/product.h"

namespace solstice::families::tensor_core {

// Equations over a product's elements: rows are batches x M, columns N. `canonical`: indices of `flat` that stand for
// the free ones of the product's equation.
reduction::Shape shape_of_rows(const ir::Program& program, const Product& product, const codegen::FlatKernel& flat,
                               const std::vector<int>& canonical);

const ir::ExprRef& without_casts(const ir::ExprRef& e);

}  // namespace solstice::families::tensor_core
