#include "ir/analysis/contraction.h"

#include <algorithm>

namespace solstice::ir {
namespace {

bool multiplies_matrices(const Expr& mul, const std::vector<int>& binders) {
  const IndexSet a = indices_of(mul.args[0]), b = indices_of(mul.args[1]);
  const auto varies = [&](const IndexSet& of) {
    return std::any_of(binders.begin(), binders.end(), [&](int i) { return of.contains(i); });
  };
  return a != b && varies(a) && varies(b) && reads_anything(mul.args[0]) && reads_anything(mul.args[1]);
}

}  // namespace

bool reads_anything(const ExprRef& e) {
  bool out = false;
  walk(e, [&](const Expr& node) { out = out || node.op == Op::kRead; });
  return out;
}

Role role_of(bool summed, bool in_a, bool in_b) {
  if (!in_a && !in_b) return Role::kAbsent;
  if (summed) return in_a && in_b ? Role::kK : Role::kReduced;
  return in_a && in_b ? Role::kBatch : in_a ? Role::kM : Role::kN;
}

bool ProductSum::is_of_reads() const { return a()->op == Op::kRead && b()->op == Op::kRead; }

bool ProductSum::is_summed(int index) const {
  return std::find(node->binders.begin(), node->binders.end(), index) != node->binders.end();
}

std::vector<ProductSum> product_sums(const Equation& equation) {
  std::vector<ProductSum> out;
  walk(equation.rhs, [&](const Expr& e) {
    if (e.op != Op::kReduce || e.reducer != Reducer::kSum || e.args[0]->op != Op::kMul) return;
    if (std::none_of(out.begin(), out.end(), [&](const ProductSum& known) { return known.node == &e; }))
      out.push_back({&e});
  });
  return out;
}

Access::Access(const Expr& read) : tensor(read.id) {
  const size_t dimensions = read.args.size() - (read.has_else ? 1 : 0);
  for (size_t d = 0; d < dimensions; ++d) at.push_back(as_affine(read.args[d]));
}

bool Access::moves_with(int index) const {
  return std::any_of(at.begin(), at.end(), [&](const auto& form) { return form && form->coefficient(index) != 0; });
}

IndexSet direct_indices(const ExprRef& e) {
  IndexSet out;
  if (e->op == Op::kIndex) out.insert(e->id);
  for (const ExprRef& arg : e->args) {
    if (e->op != Op::kRead) {
      out.merge(direct_indices(arg));
      continue;
    }
    if (!reads_anything(arg)) out.merge(indices_of(arg));
  }
  return out;
}

bool is_contraction(const Operand& a, const Operand& b) {
  return !without(a.all, b.direct).empty() && !without(b.all, a.direct).empty();
}

bool has_contraction(const Equation& equation) {
  bool out = false;
  walk(equation.rhs, [&](const Expr& node) {
    if (node.op != Op::kReduce) return;
    walk(node.args[0], [&](const Expr& e) { out = out || (e.op == Op::kMul && multiplies_matrices(e, node.binders)); });
  });
  return out;
}

}  // namespace solstice::ir
