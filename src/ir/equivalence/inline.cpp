#include "ir/equivalence/inline.h"

#include <algorithm>
#include <map>

#include "ir/bind/views.h"

namespace solstice::ir {
namespace {

constexpr int kMostNodes = 200'000;

}  // namespace

Inliner::Inliner(const Program& program) : program_(program) {
  for (size_t i = 0; i < program.equations.size(); ++i) writers_[program.equations[i].target].push_back(static_cast<int>(i));
}

std::optional<Equation> Inliner::inlined(int equation, const std::set<int>& cuts) {
  Equation out = program_.equation(equation);
  equation_ = &out;
  cuts_ = &cuts;
  nodes_ = 0;
  out.rhs = rewrite(out.rhs);
  if (nodes_ > kMostNodes) return std::nullopt;
  return out;
}

// A definition that can stand for its reads: one piece over bare indices, no recurrence.
const Equation* Inliner::definition(int tensor) const {
  const auto found = writers_.find(tensor);
  const Tensor& t = program_.tensor(tensor);
  const bool inner = t.kind == TensorKind::kLocal || t.kind == TensorKind::kTensor || t.kind == TensorKind::kOutput;
  if (!inner || cuts_->count(tensor) || found == writers_.end() || found->second.size() != 1) return nullptr;
  const Equation& e = program_.equation(found->second[0]);
  if (e.group >= 0) return nullptr;
  const bool bare = std::all_of(e.lhs.begin(), e.lhs.end(), [](const ExprRef& i) { return i->op == Op::kIndex; });
  return bare ? &e : nullptr;
}

ExprRef Inliner::rewrite(const ExprRef& e) {
  if (++nodes_ > kMostNodes || e->args.empty()) {
    if (e->op != Op::kRead) return e;
  }
  if (nodes_ > kMostNodes) return e;
  auto copy = std::make_shared<Expr>(*e);
  copy->span = Span{};
  for (ExprRef& a : copy->args) a = rewrite(a);
  if (e->op != Op::kRead || e->has_else) return copy;
  const Equation* definition_of = definition(e->id);
  return definition_of ? instance(*definition_of, copy->args) : ExprRef(copy);
}

// The definition's right side at the indices read, with bound indices of its own.
ExprRef Inliner::instance(const Equation& definition_of, const std::vector<ExprRef>& at) {
  std::map<int, ExprRef> values;
  for (size_t d = 0; d < at.size(); ++d) values[definition_of.lhs[d]->id] = at[d];
  return rewrite(transplanted(definition_of, definition_of.rhs, values));
}

ExprRef Inliner::transplanted(const Equation& from, const ExprRef& e, std::map<int, ExprRef>& values) {
  if (++nodes_ > kMostNodes) return e;
  if (e->op == Op::kIndex) {
    const auto known = values.find(e->id);
    return known == values.end() ? e : known->second;
  }
  auto copy = std::make_shared<Expr>(*e);
  for (int& b : copy->binders) {
    const int fresh = static_cast<int>(equation_->indices.size());
    equation_->indices.push_back(from.indices[static_cast<size_t>(b)]);
    values[b] = make_index(fresh);
    b = fresh;
  }
  for (ExprRef& a : copy->args) a = transplanted(from, a, values);
  return copy;
}

}  // namespace solstice::ir
