#include "ir/rewrite/monotone.h"

#include <algorithm>
#include <cmath>

#include "ir/equal.h"

namespace solstice::ir {
namespace {

std::optional<double> finite_literal(const ExprRef& e) {
  if (e->op == Op::kInt && e->id < 0) return static_cast<double>(e->integer);
  if (e->op == Op::kReal && std::isfinite(e->real)) return e->real;
  if (e->op != Op::kNeg) return std::nullopt;
  const auto value = finite_literal(e->args[0]);
  return value ? std::optional(-*value) : std::nullopt;
}

// Positive whatever the tensors hold, or NaN.
bool is_positive(const ExprRef& e) {
  if (const auto value = finite_literal(e)) return *value > 0;
  if (e->op == Op::kAdd) {
    const auto no_less = [](const ExprRef& x) { return is_positive(x) || x->op == Op::kExp || x->op == Op::kAbs; };
    return (is_positive(e->args[0]) && no_less(e->args[1])) || (is_positive(e->args[1]) && no_less(e->args[0]));
  }
  return false;
}

std::optional<MonotoneLayer> scaled(const ExprRef& e) {
  for (const size_t operand : {size_t{0}, size_t{1}}) {
    const auto factor = finite_literal(e->args[1 - operand]);
    if (factor && *factor != 0) return MonotoneLayer{e, operand, *factor < 0};
  }
  return std::nullopt;
}

std::optional<MonotoneLayer> quotient(const ExprRef& e) {
  const auto divisor = finite_literal(e->args[1]);
  if (divisor && *divisor != 0) return MonotoneLayer{e, 0, *divisor < 0};
  const auto dividend = finite_literal(e->args[0]);
  if (dividend && *dividend != 0 && is_positive(e->args[1])) return MonotoneLayer{e, 1, *dividend > 0};
  return std::nullopt;
}

// select(x > 0, x, a*x)
std::optional<MonotoneLayer> leaky(const ExprRef& e) {
  const ExprRef& test = e->args[0];
  const ExprRef& x = e->args[1];
  if ((test->op != Op::kGt && test->op != Op::kGe) || !same(test->args[0], x)) return std::nullopt;
  const auto threshold = finite_literal(test->args[1]);
  const ExprRef& other = e->args[2];
  if (!threshold || *threshold != 0 || other->op != Op::kMul) return std::nullopt;
  for (const size_t operand : {size_t{0}, size_t{1}}) {
    const auto slope = finite_literal(other->args[1 - operand]);
    if (slope && *slope > 0 && same(other->args[operand], x)) return MonotoneLayer{e, 1, false};
  }
  return std::nullopt;
}

}  // namespace

ExprRef MonotonePeeler::peel(ExprRef e) {
  for (;;) {
    if (e->op == Op::kRead && !e->has_else) {
      const Equation* definition = definitions_.of(e->id);
      if (!definition) return e;
      const size_t before = layers.size();
      const ExprRef inner = peel(instance(equation_, *definition, *e));
      return layers.size() > before ? inner : e;
    }
    const std::optional<MonotoneLayer> layer = outermost(e);
    if (!layer) return e;
    layers.push_back(*layer);
    e = e->op == Op::kSelect ? e->args[1] : e->args[layer->operand];
  }
}

ExprRef MonotonePeeler::rebuilt(ExprRef core) const {
  for (auto layer = layers.rbegin(); layer != layers.rend(); ++layer) {
    auto copy = std::make_shared<Expr>(*layer->node);
    if (copy->op == Op::kSelect) {
      const ExprRef old = copy->args[1];
      for (ExprRef& a : copy->args) a = changed(a, [&](const ExprRef& n) { return same(n, old) ? core : nullptr; });
    } else {
      copy->args[layer->operand] = core;
    }
    core = copy;
  }
  return core;
}

bool MonotonePeeler::falls() const {
  return std::count_if(layers.begin(), layers.end(), [](const MonotoneLayer& l) { return l.falls; }) % 2 == 1;
}

std::optional<MonotoneLayer> MonotonePeeler::outermost(const ExprRef& e) const {
  if (e->kind != ValueKind::kReal) return std::nullopt;
  switch (e->op) {
    case Op::kExp:
    case Op::kExpm1:
    case Op::kTanh:
    case Op::kErf:
    case Op::kFloor:
    case Op::kCeil:
    case Op::kRound:
    case Op::kTrunc:
      return MonotoneLayer{e, 0, false};
    case Op::kNeg:
      return MonotoneLayer{e, 0, true};
    case Op::kAdd:
    case Op::kMin:
    case Op::kMax:
      if (fixed(e->args[1])) return MonotoneLayer{e, 0, false};
      return fixed(e->args[0]) ? std::optional(MonotoneLayer{e, 1, false}) : std::nullopt;
    case Op::kSub:
      if (fixed(e->args[1])) return MonotoneLayer{e, 0, false};
      return fixed(e->args[0]) ? std::optional(MonotoneLayer{e, 1, true}) : std::nullopt;
    case Op::kMul:
      return scaled(e);
    case Op::kDiv:
      return quotient(e);
    case Op::kSelect:
      return leaky(e);
    default:
      return std::nullopt;
  }
}

}  // namespace solstice::ir
