// Work of a product under a sum: the points that it is computed for, and the best order to multiply several factors in.
#pragma once

#include <vector>

#include "ir/analysis/contraction.h"
#include "ir/count/operations.h"
#include "ir/domain.h"

namespace solstice::ir {

// Indices of the result that a factor depends on. A summed index that an equality gives by indices of the result stands
// for these: of x[c,i] under u == 2*i+r-1 u.
Operand operand_of(const ExprRef& factor, const IndexSet& binders, const Domain& domain);

// Points of a product's indices, whose binders are summed: without those that an equality gives no index within
// the result (i = 0, r = 0 under u == 2*i+r-1).
double points_within(const IndexSet& indices, const IndexSet& binders, const Domain& domain);

// A product of several factors under a sum over `binders`: the work of the binary tree with the least multiply-adds.
Work product_work(const std::vector<ExprRef>& factors, const IndexSet& binders, const Domain& domain);

}  // namespace solstice::ir
