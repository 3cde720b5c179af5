#include "ir/normal/expression.h"

#include <algorithm>
#include <cmath>

#include "ir/normal/terms/facts.h"
#include "ir/normal/terms/formats.h"

namespace solstice::ir::normal {
namespace {

bool is_infinite(const Pool& pool, TermId t) { return pool.at(t).kind == Kind::kReal && std::isinf(pool.at(t).real); }

bool has_infinity(const Pool& pool, TermId id) {
  const Term& t = pool.at(id);
  if (is_infinite(pool, id)) return true;
  if (t.kind == Kind::kSum || t.kind == Kind::kProduct || (t.kind == Kind::kOp && t.op == Op::kSelect)) {
    return std::any_of(t.args.begin(), t.args.end(), [&](TermId a) { return has_infinity(pool, a); });
  }
  return false;
}

}  // namespace

TermId Expressions::operator()(TermId t) {
  if (pool_.exceeded()) return 0;
  if (const auto found = done_.find(t); found != done_.end()) return found->second;
  const TermId out = made(t);
  done_.emplace(t, out);
  return out;
}

TermId Expressions::made(TermId id) {
  const Term t = pool_.at(id);
  if (t.args.empty() || (t.kind == Kind::kReduce && pool_.var(t.binders[0]).bound)) return id;
  std::vector<TermId> args;
  for (const TermId a : t.args) args.push_back((*this)(a));
  if (pool_.exceeded()) return 0;
  switch (t.kind) {
    case Kind::kRead:
      return read(id, std::move(args));
    case Kind::kReduce:
      return reduction(t, args);
    case Kind::kGuard: {
      const TermId all = connected(Op::kAnd, args);
      return is_true(all) || is_false(all) ? all : pool_.guard(conjuncts(all));
    }
    case Kind::kSum: {
      Poly out;
      for (size_t i = 0; i < args.size(); ++i) out = polys_.plus(out, polys_.of(args[i]), t.weights[i]);
      return polys_.term(recombined(std::move(out)));
    }
    case Kind::kProduct: {
      Poly out = polys_.constant(kOne);
      for (size_t i = 0; i < args.size(); ++i) out = polys_.times(out, polys_.power(polys_.of(args[i]), t.weights[i]));
      return polys_.term(out);
    }
    default:
      return operation(t, args);
  }
}

TermId Expressions::operation(const Term& t, const std::vector<TermId>& args) {
  const auto poly = [&](size_t i) { return polys_.of(args[i]); };
  switch (t.op) {
    case Op::kNeg:
      return polys_.term(polys_.scaled(poly(0), Rational{-1, 1}));
    case Op::kAdd:
      return polys_.term(recombined(polys_.plus(poly(0), poly(1))));
    case Op::kSub:
      return polys_.term(recombined(polys_.plus(poly(0), poly(1), kMinus)));
    case Op::kMul:
    case Op::kDiv: {
      const Poly a = poly(0), b = t.op == Op::kMul ? poly(1) : polys_.power(poly(1), Rational{-1, 1});
      return is_guarded_apart(a, b) || is_guarded_apart(b, a) ? pool_.op(t.op, args) : polys_.term(polys_.times(a, b));
    }
    case Op::kSqrt:
      return polys_.term(polys_.power(poly(0), kHalf));
    case Op::kRsqrt:
      return polys_.term(polys_.power(poly(0), Rational{-1, 2}));
    case Op::kPow:
      return power(args[0], args[1]);
    case Op::kExp:
      return exponential(args[0]);
    case Op::kExpm1:
      return polys_.term(polys_.plus(polys_.of(exponential(args[0])), polys_.constant(kOne), Rational{-1, 1}));
    case Op::kLog:
      return logarithm(args[0]);
    case Op::kLog1p:
      return logarithm(polys_.term(polys_.plus(poly(0), polys_.constant(kOne))));
    case Op::kMin:
    case Op::kMax:
      return extremum(t.op, args);
    case Op::kSelect:
      return select(args[0], args[1], args[2]);
    case Op::kFloorDiv:
    case Op::kMod:
      return division(t.op, args[0], args[1]);
    case Op::kLt:
    case Op::kLe:
    case Op::kGe:
    case Op::kGt:
    case Op::kEq:
    case Op::kNe:
      return comparison(t.op, args[0], args[1]);
    case Op::kAnd:
    case Op::kOr:
      return connected(t.op, args);
    case Op::kNot:
      return negated(args[0]);
    case Op::kAbs:
      return signs_.nonnegative(args[0]) ? args[0] : pool_.op(t.op, args);
    case Op::kCast:  // before the operand's normal form, too, whose sums say less
      if (is_float(t.dtype) && (is_of_format(pool_, t.args[0], t.dtype) || is_of_format(pool_, args[0], t.dtype)))
        return args[0];
      return pool_.op(t.op, args, t.dtype);
    default:
      return pool_.op(t.op, args, t.dtype);
  }
}

// Is something in `b` computed where a guard of `a` does not hold, and may be infinite there? 0 * inf is no 0.
bool Expressions::is_guarded_apart(const Poly& a, const Poly& b) {
  std::vector<TermId> guards;
  for (const auto& [m, w] : a) {
    for (const Factor& f : polys_.factors(m)) {
      const Term& base = pool_.at(f.base);
      if (base.kind == Kind::kGuard) guards.insert(guards.end(), base.args.begin(), base.args.end());
    }
  }
  if (guards.empty()) return false;
  return std::any_of(b.begin(), b.end(), [&](const auto& m) {
    std::vector<TermId> own;
    bool finite = true;
    for (const Factor& f : polys_.factors(m.first)) {
      const Term& base = pool_.at(f.base);
      if (base.kind == Kind::kGuard) own = base.args;
      finite = finite && is_finite(f);
    }
    const auto known = [&](TermId g) { return std::find(own.begin(), own.end(), g) != own.end(); };
    return !finite && !std::all_of(guards.begin(), guards.end(), known);
  });
}

TermId Expressions::power(TermId base, TermId exponent) {
  const Term& e = pool_.at(exponent);
  if (e.kind != Kind::kConst) return pool_.op(Op::kPow, {base, exponent});
  return polys_.term(polys_.power(polys_.of(base), e.number));
}

// exp(a + b) = exp(a) * exp(b); exp(select(c, a, b)) = select(c, exp(a), exp(b)); exp(-inf) = 0.
TermId Expressions::exponential(TermId a) {
  const Term t = pool_.at(a);
  if (is_infinite(pool_, a)) return t.real < 0 ? pool_.constant(0) : pool_.op(Op::kExp, {a});
  if (t.kind == Kind::kOp && t.op == Op::kSelect)
    return select(t.args[0], exponential(t.args[1]), exponential(t.args[2]));
  if (has_infinity(pool_, a) && t.kind != Kind::kSum) return pool_.op(Op::kExp, {a});
  Poly out = polys_.constant(kOne);
  for (const auto& [m, w] : polys_.of(a)) {
    const Term& monomial = pool_.at(m);
    const bool branches = monomial.kind == Kind::kOp && monomial.op == Op::kSelect;
    const TermId base = branches ? exponential(m) : pool_.op(Op::kExp, {m});
    if (w.num == 0) return pool_.op(Op::kExp, {a});  // 0 * inf: it is no exp(0)
    const Poly factor = polys_.power(polys_.of(base), w);
    if (is_guarded_apart(out, factor) || is_guarded_apart(factor, out)) return pool_.op(Op::kExp, {a});
    out = polys_.times(out, factor);
  }
  return polys_.term(out);
}

// log(exp(a) * b) = a + log(b)
TermId Expressions::logarithm(TermId a) {
  const Poly p = polys_.of(a);
  if (p.size() != 1) return pool_.op(Op::kLog, {a});
  Poly out;
  std::vector<Factor> rest;
  for (const Factor& f : polys_.factors(p.begin()->first)) {
    const Term& base = pool_.at(f.base);
    if (base.kind == Kind::kOp && base.op == Op::kExp && signs_.positive(f.base))
      out = polys_.plus(out, polys_.of(base.args[0]), f.exponent);
    else
      rest.push_back(f);
  }
  const TermId inside = polys_.term(polys_.scaled(polys_.from_factors(rest), p.begin()->second));
  if (pool_.is_const(inside, 1)) return polys_.term(out);
  return polys_.term(polys_.plus(out, polys_.of(pool_.op(Op::kLog, {inside}))));
}

// select(a > b, a, b) is a maximum, select(a < b, a, b) a minimum.
std::optional<TermId> Expressions::as_maximum(TermId condition, TermId a, TermId b) {
  const Term& c = pool_.at(condition);
  if (c.kind != Kind::kOp || (c.op != Op::kGt && c.op != Op::kGe) || pool_.is_integral(c.args[0])) return std::nullopt;
  if (!compares_with_zero(pool_, c) || !signs_.finite(a) || !signs_.finite(b))
    return std::nullopt;  // a maximum hands on NaN
  const Poly difference = polys_.plus(polys_.of(a), polys_.of(b), Rational{-1, 1});
  const Poly known = polys_.of(c.args[0]);
  if (difference.empty() || difference.size() != known.size()) return std::nullopt;
  std::optional<Rational> factor;
  for (auto x = difference.begin(), y = known.begin(); x != difference.end(); ++x, ++y) {
    const auto inverse = Rational::of(y->second.den, y->second.num);
    const auto ratio = inverse ? multiply(x->second, *inverse) : std::nullopt;
    if (x->first != y->first || !ratio || (factor && !(*factor == *ratio))) return std::nullopt;
    factor = ratio;
  }
  return extremum(factor->num > 0 ? Op::kMax : Op::kMin, {a, b});
}

// select(c, a, b) = [c] * a + [not c] * b, where no infinity is in the way.
TermId Expressions::select(TermId condition, TermId a, TermId b) {
  if (is_true(condition) || a == b) return a;
  if (is_false(condition)) return b;
  if (const auto found = as_maximum(condition, a, b)) return *found;
  if (has_infinity(pool_, a) || has_infinity(pool_, b)) return pool_.op(Op::kSelect, {condition, a, b});
  if (pool_.at(a).value == ValueKind::kBool || pool_.at(b).value == ValueKind::kBool)
    return pool_.op(Op::kSelect, {condition, a, b});
  const TermId not_so = negated(condition);
  const Poly first = polys_.times(polys_.of(pool_.guard(conjuncts(condition))), polys_.of(a));
  const Poly second = polys_.times(polys_.of(pool_.guard(conjuncts(not_so))), polys_.of(b));
  return polys_.term(polys_.plus(first, second));
}

TermId Expressions::read(TermId id, std::vector<TermId> args) {
  const Term t = pool_.at(id);
  if (!t.has_else || !enabled_.absorb) return pool_.with_args(id, std::move(args));
  const TermId otherwise = args.back();
  args.pop_back();
  const TermId inside = (*this)(all_of(pool_, within(pool_, pool_.symbol(t.id).shape, args)));
  return select(inside, pool_.read(t.id, std::move(args)), otherwise);
}

}  // namespace solstice::ir::normal
