#include "ir/substitute.h"

namespace solstice::ir {

ExprRef substitute(const ExprRef& e, const std::map<int, ExprRef>& indices) {
  if (e->op == Op::kIndex) {
    const auto found = indices.find(e->id);
    return found == indices.end() ? e : found->second;
  }
  if (e->args.empty()) return e;
  auto copy = std::make_shared<Expr>(*e);
  bool folds = e->op != Op::kRead && e->op != Op::kReduce && e->op != Op::kRank && e->op != Op::kCast;
  for (ExprRef& a : copy->args) a = substitute(a, indices);
  return folds ? make(copy->op, copy->args) : copy;
}

}  // namespace solstice::ir
