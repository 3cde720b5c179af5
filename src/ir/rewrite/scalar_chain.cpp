#include "ir/rewrite/scalar_chain.h"

#include <cmath>
#include <limits>
#include <utility>

#include "ir/equal.h"
#include "ir/rewrite/edit.h"

namespace solstice::ir {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
const Number kMinusOne{-1};

Number operator*(const Number& a, const Number& b) {
  return {a.value * b.value, a.exact && b.exact ? multiply(*a.exact, *b.exact) : std::nullopt};
}

Number operator/(const Number& a, const Number& b) {
  const auto inverse = b.exact ? Rational::of(b.exact->den, b.exact->num) : std::nullopt;
  return {a.value / b.value, a.exact && inverse ? multiply(*a.exact, *inverse) : std::nullopt};
}

Number operator+(const Number& a, const Number& b) {
  return {a.value + b.value, a.exact && b.exact ? add(*a.exact, *b.exact) : std::nullopt};
}

// Every number of the chain through `change`, by a factor of c's sign.
template <typename F>
ScalarChain stretched(const ScalarChain& chain, const Number& c, F&& change) {
  ScalarChain out = chain;
  out.factor = change(chain.factor), out.shift = change(chain.shift), out.low = change(chain.low),
  out.high = change(chain.high);
  if (c.value < 0) std::swap(out.low, out.high);
  ++out.steps;
  return out;
}

ExprRef number_of(double value) {
  const bool whole = std::nearbyint(value) == value && std::abs(value) < 1e15;
  return whole ? make_int(static_cast<int64_t>(value)) : make_real(value);
}

class ChainReader {
 public:
  ChainReader(Equation& equation, const Definitions& definitions) : equation_(equation), definitions_(definitions) {}

  ScalarChain read(const ExprRef& e) {
    if (e->op == Op::kNeg) return read(e->args[0]).scaled(kMinusOne);
    if (e->op == Op::kRead) return through(e);
    if (e->args.size() != 2) return base(e);
    if (const auto right = literal(e->args[1])) return by_literal(e, Number(*right));
    if (const auto left = literal(e->args[0])) return of_literal(e, Number(*left));
    return e->op == Op::kAdd || e->op == Op::kSub ? added(e) : base(e);
  }

 private:
  // An integer with a place in the source is made of dims.
  static std::optional<double> literal(const ExprRef& e) {
    if (e->op == Op::kInt && e->id < 0 && e->span.end == 0) return static_cast<double>(e->integer);
    if (e->op == Op::kReal && std::isfinite(e->real)) return e->real;
    if (e->op != Op::kNeg) return std::nullopt;
    const auto value = literal(e->args[0]);
    return value ? std::optional(-*value) : std::nullopt;
  }

  static ScalarChain base(const ExprRef& e) {
    ScalarChain out;
    out.base = e;
    return out;
  }

  // x op c
  ScalarChain by_literal(const ExprRef& e, const Number& c) {
    switch (e->op) {
      case Op::kAdd:
        return read(e->args[0]).moved(c);
      case Op::kSub:
        return read(e->args[0]).moved(kMinusOne * c);
      case Op::kMul:
        return c.value == 0 ? base(e) : read(e->args[0]).scaled(c);
      case Op::kDiv:
        return c.value == 0 ? base(e) : read(e->args[0]).divided(c);
      case Op::kMin:
      case Op::kMax:
        return read(e->args[0]).cut(c, e->op == Op::kMax);
      default:
        return base(e);
    }
  }

  // c op x
  ScalarChain of_literal(const ExprRef& e, const Number& c) {
    switch (e->op) {
      case Op::kAdd:
        return read(e->args[1]).moved(c);
      case Op::kSub: {
        ScalarChain out = read(e->args[1]).scaled(kMinusOne).moved(c);
        --out.steps;
        return out;
      }
      case Op::kMul:
        return c.value == 0 ? base(e) : read(e->args[1]).scaled(c);
      case Op::kMin:
      case Op::kMax:
        return read(e->args[1]).cut(c, e->op == Op::kMax);
      default:
        return base(e);
    }
  }

  ScalarChain added(const ExprRef& e) {
    const ScalarChain a = read(e->args[0]);
    ScalarChain b = read(e->args[1]);
    if (e->op == Op::kSub) b = b.scaled(kMinusOne), --b.steps;
    const auto sum = a.plus(b);
    return sum ? *sum : base(e);
  }

  ScalarChain through(const ExprRef& e) {
    const Equation* definition = e->has_else ? nullptr : definitions_.of(e->id);
    if (!definition) return base(e);
    const ExprRef inner = instance(equation_, *definition, *e);
    const ScalarChain out = read(inner);
    return out.steps > 0 && out.base->kind == ValueKind::kReal && is_cheap(out.base) ? out : base(e);
  }

  // A chain's operand that may be read here instead of the chain's result: no more work than a read.
  static bool is_cheap(const ExprRef& e) { return e->op == Op::kRead; }

  Equation& equation_;
  const Definitions& definitions_;
};

}  // namespace

bool Number::is_written() const { return !std::isfinite(value) || (exact && Rational::of(value) == exact); }

ScalarChain::ScalarChain() : factor(1), shift(0), low(-kInfinite), high(kInfinite) {}

bool ScalarChain::clamped() const { return std::isfinite(low.value) || std::isfinite(high.value); }

bool ScalarChain::is_finite() const {
  return std::isfinite(factor.value) && std::isfinite(shift.value) && std::abs(factor.value) > 1e-30 &&
         !std::isnan(low.value) && !std::isnan(high.value);
}

bool ScalarChain::is_written() const {
  return factor.is_written() && shift.is_written() && low.is_written() && high.is_written();
}

int ScalarChain::cost() const {
  return (factor.value != 1) + (shift.value != 0) + std::isfinite(low.value) + std::isfinite(high.value);
}

ScalarChain ScalarChain::scaled(const Number& c) const {
  return stretched(*this, c, [&](const Number& n) { return n * c; });
}

ScalarChain ScalarChain::divided(const Number& c) const {
  return stretched(*this, c, [&](const Number& n) { return n / c; });
}

ScalarChain ScalarChain::moved(const Number& c) const {
  ScalarChain out = *this;
  out.shift = shift + c, out.low = low + c, out.high = high + c;
  ++out.steps;
  return out;
}

ScalarChain ScalarChain::cut(const Number& c, bool below) const {
  const auto limited = [&](const Number& limit) {
    return (below ? limit.value < c.value : c.value < limit.value) ? c : limit;
  };
  ScalarChain out = *this;
  out.low = limited(low), out.high = limited(high);
  ++out.steps;
  return out;
}

std::optional<ScalarChain> ScalarChain::plus(const ScalarChain& other) const {
  const Number sum = factor + other.factor;
  if (clamped() || other.clamped() || !same(base, other.base) || sum.value == 0) return std::nullopt;
  ScalarChain out = *this;
  out.factor = sum;
  out.shift = shift + other.shift;
  out.steps += other.steps + 1;
  return out;
}

ExprRef ScalarChain::to_expr() const {
  ExprRef out = base;
  if (factor.value == -1) {
    out = make(Op::kNeg, {out});
  } else if (factor.value != 1) {
    out = make(Op::kMul, {out, number_of(factor.value)});
  }
  if (shift.value != 0) {
    const bool less = shift.value < 0;
    out = make(less ? Op::kSub : Op::kAdd, {out, number_of(less ? -shift.value : shift.value)});
  }
  if (std::isfinite(low.value)) out = make(Op::kMax, {out, number_of(low.value)});
  if (std::isfinite(high.value)) out = make(Op::kMin, {out, number_of(high.value)});
  return out;
}

ScalarChain scalar_chain(Equation& equation, const Definitions& definitions, const ExprRef& e) {
  return ChainReader(equation, definitions).read(e);
}

}  // namespace solstice::ir
