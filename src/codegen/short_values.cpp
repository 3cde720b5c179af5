#include "codegen/short_values.h"

#include <algorithm>
#include <vector>

namespace solstice::codegen {
namespace {

using ir::ExprRef;
using ir::Op;

constexpr int kSignDepth = 8;  // nodes that a proof of a sign goes down

bool is_short(DType dtype) { return is_float(dtype) && size_of(dtype) <= 2; }

bool is_one(const ExprRef& e) { return (e->op == Op::kReal && e->real == 1) || (e->op == Op::kInt && e->integer == 1); }

bool is_not_negative(const ExprRef& e, int depth = kSignDepth) {
  if (depth == 0) return false;
  const auto arg = [&](size_t i) { return is_not_negative(e->args[i], depth - 1); };
  switch (e->op) {
    case Op::kReal:
      return e->real >= 0;
    case Op::kInt:
      return e->integer >= 0;
    case Op::kExp:
    case Op::kSqrt:
    case Op::kRsqrt:
    case Op::kAbs:
      return true;
    case Op::kMax:
      return arg(0) || arg(1);
    case Op::kMul:
      return e->args[0] == e->args[1] || (arg(0) && arg(1));
    case Op::kAdd:
      return one_plus_of(*e) || (arg(0) && arg(1));
    case Op::kMin:
    case Op::kDiv:
      return arg(0) && arg(1);
    case Op::kSelect:
      return arg(1) && arg(2);
    default:
      return false;
  }
}

// An error of operand `i` becomes an error of the result that is no larger, relative to each.
bool passes(const ir::Expr& e, size_t i) {
  switch (e.op) {
    case Op::kNeg:
    case Op::kAbs:
    case Op::kMul:
    case Op::kDiv:
    case Op::kMin:
    case Op::kMax:
    case Op::kSqrt:
    case Op::kRsqrt:
      return true;
    case Op::kSelect:
      return i > 0;
    case Op::kCast:
      return is_float(e.dtype);
    case Op::kAdd:
      return one_plus_of(e) || (is_not_negative(e.args[0]) && is_not_negative(e.args[1]));
    case Op::kSub:
      return one_plus_of(e).has_value();
    default:
      return false;
  }
}

}  // namespace

std::optional<OnePlus> one_plus_of(const ir::Expr& e) {
  const auto is_function = [](const ExprRef& f) { return f->op == Op::kErf || f->op == Op::kTanh; };
  if ((e.op != Op::kAdd && e.op != Op::kSub) || e.args.size() != 2) return std::nullopt;
  if (is_one(e.args[0]) && is_function(e.args[1])) return OnePlus{e.args[1], e.op == Op::kSub};
  if (e.op == Op::kAdd && is_one(e.args[1]) && is_function(e.args[0])) return OnePlus{e.args[0], false};
  return std::nullopt;
}

ShortValues short_values_of(const ir::Program& program, const FlatKernel& flat) {
  std::vector<const ir::Expr*> order;  // operands before what uses them
  ShortValues seen, exact;
  const auto visit = [&](const auto& self, const ExprRef& e) -> void {
    if (!seen.insert(e.get()).second) return;
    for (const ExprRef& arg : e->args) self(self, arg);
    order.push_back(e.get());
  };
  for (const FlatEquation& equation : flat.equations) {
    const ir::Tensor& target = program.tensor(equation.target);
    visit(visit, equation.rhs);
    if (!is_short(target.dtype.value_or(DType::kF64))) exact.insert(equation.rhs.get());
    for (const ExprRef& place : equation.lhs) {
      visit(visit, place);
      exact.insert(place.get());
    }
  }
  for (auto e = order.rbegin(); e != order.rend(); ++e) {
    const bool is_exact = exact.count(*e) > 0;
    for (size_t i = 0; i < (*e)->args.size(); ++i) {
      if (is_exact || !passes(**e, i)) exact.insert((*e)->args[i].get());
    }
  }
  for (const ir::Expr* e : exact) seen.erase(e);
  return seen;
}

}  // namespace solstice::codegen
