// Rows of a product as the analysis of reductions sees them, and the one place where this folder names that analysis.
#pragma once

#include "families/rows/layout.h"
#include "families/rows/local.h"
#include "families/rows/phases.h"
#include "families/rows/reduction.h"
#include "families/rows/shape.h"
#include "families/tensor_core/product.h"

namespace solstice::families::tensor_core {

namespace reduction = rows;

// Equations over a product's elements: rows are batches x M, columns N. `canonical`: indices of `flat` that stand for
// the free ones of the product's equation.
reduction::Shape shape_of_rows(const ir::Program& program, const Product& product, const codegen::FlatKernel& flat,
                               const std::vector<int>& canonical);

const ir::ExprRef& without_casts(const ir::ExprRef& e);

}  // namespace solstice::families::tensor_core
