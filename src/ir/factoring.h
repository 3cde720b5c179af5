// Products under a sum: those that tensor cores can do, and the best order to multiply several factors in.
#pragma once

#include <vector>

#include "ir/domain.h"
#include "ir/operations.h"

namespace solstice::ir {

IndexSet united(const IndexSet& a, const IndexSet& b);
IndexSet without(const IndexSet& a, const IndexSet& b);

// Indices that address a tensor themselves, not through the values of another: of w[expert[m],n,k] n and k.
IndexSet direct_indices(const ExprRef& e);

// Indices of the result that a factor depends on: all of them, and the direct ones. A summed index that an equality
// gives by indices of the result stands for these: of x[c,i] under u == 2*i+r-1 u.
struct Operand {
  IndexSet all;
  IndexSet direct;
};
Operand operand_of(const ExprRef& factor, const IndexSet& binders, const Domain& domain);

// Points of a product's indices, whose binders are summed: without those that an equality gives no index within
// the result (i = 0, r = 0 under u == 2*i+r-1).
double points_within(const IndexSet& indices, const IndexSet& binders, const Domain& domain);

// Tensor cores need an index of the result that only A has, and one that only B has. An index that selects a slice of
// one operand by a gather (the expert of a token) does not make the operands share it.
bool is_contraction(const Operand& a, const Operand& b);

// A product of several factors under a sum over `binders`: the work of the binary tree with the least multiply-adds.
Work product_work(const std::vector<ExprRef>& factors, const IndexSet& binders, const Domain& domain);

}  // namespace solstice::ir
