#include "ir/rewrite/written_dims.h"

#include <algorithm>

#include "lang/print.h"

namespace solstice::ir {

WrittenDims::WrittenDims(const lang::Program& tree, const Program& program) : program_(program) {
  for (const lang::Item& item : tree.items) {
    if (const auto* equation = std::get_if<lang::Equation>(&item.node)) collect(*equation);
    if (const auto* view = std::get_if<lang::View>(&item.node)) collect(view->equation);
  }
}

const lang::ExprRef* WrittenDims::written(const Span& span) const {
  const auto found = span.end == 0 ? written_.end() : written_.find({span.begin, span.end});
  return found == written_.end() ? nullptr : &found->second;
}

bool WrittenDims::alike(const ExprRef& a, const ExprRef& b) const {
  if (a->op == Op::kInt && b->op == Op::kInt) {
    const lang::ExprRef *x = written(a->span), *y = written(b->span);
    return x && y ? lang::print(*x) == lang::print(*y) : (a->span.end == 0) == (b->span.end == 0);
  }
  for (size_t i = 0; i < std::min(a->args.size(), b->args.size()); ++i) {
    if (!alike(a->args[i], b->args[i])) return false;
  }
  return true;
}

lang::ExprRef WrittenDims::named(const lang::ExprRef& e) const {
  if (!e) return e;
  if (const lang::ExprRef* found = written(e->span)) return *found;
  auto copy = std::make_shared<lang::Expr>(*e);
  for (lang::ExprRef& a : copy->args) a = named(a);
  copy->otherwise = named(copy->otherwise);
  copy->where = named(copy->where);
  return copy;
}

void WrittenDims::collect(const lang::Equation& equation) {
  for (const lang::ExprRef& e : equation.lhs) collect(e);
  collect(equation.rhs);
}

void WrittenDims::collect(const lang::ExprRef& e) {
  if (!e) return;
  bool has_dim = false;
  if (is_constant(*e, has_dim) && has_dim) written_[{e->span.begin, e->span.end}] = e;
  for (const lang::ExprRef& a : e->args) collect(a);
  collect(e->otherwise);
  collect(e->where);
}

bool WrittenDims::is_constant(const lang::Expr& e, bool& has_dim) const {
  const bool dim = e.kind == lang::ExprKind::kName && std::any_of(program_.dims.begin(), program_.dims.end(),
                                                                  [&](const Dim& d) { return d.name == e.text; });
  has_dim = has_dim || dim;
  if (dim || e.kind == lang::ExprKind::kInt) return true;
  if (e.kind != lang::ExprKind::kBinary && e.kind != lang::ExprKind::kNeg) return false;
  return std::all_of(e.args.begin(), e.args.end(), [&](const lang::ExprRef& a) { return is_constant(*a, has_dim); });
}

}  // namespace solstice::ir
