// Maxima and minima in the pass `algebra`: of a few values, and over domains.
#include <algorithm>
#include <cmath>

#include "ir/normal/expression.h"
#include "ir/normal/name.h"
#include "ir/normal/terms/facts.h"

namespace solstice::ir::normal {
namespace {

// Nowhere falling, on the whole line.
bool is_monotone(Op op) {
  return op == Op::kTanh || op == Op::kErf || op == Op::kFloor || op == Op::kCeil || op == Op::kRound ||
         op == Op::kTrunc;
}

}  // namespace

TermId Expressions::extremum(Op op, const std::vector<TermId>& args) {
  std::vector<TermId> all;
  std::optional<Rational> number;
  for (const TermId a : args) {
    const Term& t = pool_.at(a);
    const std::vector<TermId> inner = t.kind == Kind::kOp && t.op == op ? t.args : std::vector<TermId>{a};
    for (const TermId each : inner) {
      const Term& e = pool_.at(each);
      if (e.kind == Kind::kReal && std::isinf(e.real) && (e.real < 0) == (op == Op::kMax)) continue;
      if (e.kind != Kind::kConst) {
        all.push_back(each);
      } else if (!number || (op == Op::kMax ? less(*number, e.number) : less(e.number, *number))) {
        number = e.number;
      }
    }
  }
  if (number && all.size() == 1 && !pool_.is_integral(all[0])) return bounded(op, all[0], *number);
  if (number) all.push_back(pool_.constant(*number));
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  if (all.empty()) return args[0];
  return all.size() == 1 ? all[0] : pool_.op(op, std::move(all));
}

// max(k*e, c) = k * max(e, c/k), with k < 0 a minimum; max(min(e, h), c) = min(max(e, c), h), or c where h is no more.
TermId Expressions::bounded(Op op, TermId t, Rational bound) {
  const Poly p = polys_.of(t);
  const Rational scale = polys_.leading(p);
  const auto inverse = scale.is(1) ? std::nullopt : Rational::of(scale.den, scale.num);
  if (const auto smaller = inverse ? multiply(bound, *inverse) : std::nullopt) {
    const Op other = op == Op::kMax ? Op::kMin : Op::kMax;
    const TermId core =
        extremum(scale.num < 0 ? other : op, {polys_.term(polys_.scaled(p, *inverse)), pool_.constant(*smaller)});
    return polys_.term(polys_.scaled(polys_.of(core), scale));
  }
  const Term inner = pool_.at(t);
  const bool crossed =
      inner.kind == Kind::kOp && inner.op == (op == Op::kMax ? Op::kMin : Op::kMax) && inner.args.size() == 2;
  const bool first = crossed && pool_.at(inner.args[0]).kind == Kind::kConst;
  if (crossed && (first || pool_.at(inner.args[1]).kind == Kind::kConst)) {
    const TermId body = inner.args[first ? 1 : 0], limit = inner.args[first ? 0 : 1];
    const Rational other = pool_.at(limit).number;
    const bool apart = op == Op::kMax ? less(bound, other) : less(other, bound);
    if (!apart && signs_.finite(body)) return pool_.constant(bound);
    if (op == Op::kMax && apart) return extremum(Op::kMin, {extremum(op, {body, pool_.constant(bound)}), limit});
  }
  std::vector<TermId> args{t, pool_.constant(bound)};
  std::sort(args.begin(), args.end());
  return pool_.op(op, std::move(args));
}

// max[b](select(c, e, -inf) + f) = max[b where c](e + f)
void Expressions::absorb_mask(Reducer reducer, Domain& domain, Poly& body) {
  for (const auto& [m, w] : body) {
    const Term t = pool_.at(m);
    if (t.kind != Kind::kOp || t.op != Op::kSelect || !w.is(1)) continue;
    const Term& otherwise = pool_.at(t.args[2]);
    if (otherwise.kind != Kind::kReal || !std::isinf(otherwise.real) ||
        (otherwise.real < 0) != (reducer == Reducer::kMax))
      continue;
    const std::vector<TermId> more = conjuncts(t.args[0]);
    domain.conditions.insert(domain.conditions.end(), more.begin(), more.end());
    Poly rest = body;
    rest.erase(m);
    if (!signs_.finite(polys_.term(rest))) continue;  // -inf + inf is not left out
    domain.carried = {polys_.term(polys_.plus(rest, polys_.of(t.args[1])))};
    simplify(domain, steps());
    if (!domain.empty) body = polys_.of((*this)(domain.carried[0]));
    return;
  }
}

TermId Expressions::extremum_over(Reducer reducer, const Domain& domain, TermId body) {
  if (pool_.exceeded()) return 0;
  const auto key = std::make_tuple(reducer, domain.binders, domain.conditions, body);
  if (const auto found = extrema_.find(key); found != extrema_.end()) return found->second;
  return extrema_[key] = made_extremum(reducer, domain, body);
}

TermId Expressions::made_extremum(Reducer reducer, Domain domain, TermId body) {
  if (pool_.at(body).kind == Kind::kReduce && pool_.at(body).reducer == reducer) {
    const Opened inner = opened(pool_, body);
    domain.binders.insert(domain.binders.end(), inner.binders.begin(), inner.binders.end());
    domain.conditions.insert(domain.conditions.end(), inner.args.begin() + 1, inner.args.end());
    return extremum_over(reducer, domain, inner.args[0]);
  }
  Poly all = polys_.of(body);
  if (enabled_.absorb) absorb_mask(reducer, domain, all);
  if (domain.empty) return of_nothing(pool_, reducer);
  std::erase_if(domain.binders, [&](int b) {
    const bool free =
        std::none_of(domain.conditions.begin(), domain.conditions.end(), [&](TermId c) { return pool_.depends(c, b); });
    return free && pool_.var(b).extent > 0 && !pool_.depends(polys_.term(all), b);
  });
  if (domain.binders.empty()) return at_one_point(reducer, domain.conditions, polys_.term(all));
  Poly inside, outside;
  const bool has_points = has_point(pool_, domain.binders, domain.conditions);
  // max[b](e) + f is no max[b](e + f) where f is infinite and some e too, or there is no e.
  const bool bounded_inside = has_points && std::all_of(all.begin(), all.end(), [&](const auto& m) {
                                return !pool_.depends(m.first, domain.binders) || signs_.finite(m.first);
                              });
  for (const auto& [m, w] : all)
    (pool_.depends(m, domain.binders) || (!bounded_inside && !signs_.finite(m)) ? inside : outside)[m] = w;
  if (inside.empty()) return has_points ? polys_.term(all) : close(reducer, domain, polys_.term(all));
  return polys_.term(polys_.plus(outside, polys_.of(extremum_of_dependent(reducer, domain, inside))));
}

// max[b](max(e, f)) = max(max[b](e), max[b](f)); max[b](min(e, f)) = min(max[b](e), f), where f is free of b.
// max[b](tanh(e)) = tanh(max[b](e)).
TermId Expressions::extremum_of_monotone(Reducer reducer, const Domain& domain, TermId body) {
  const Term t = pool_.at(body);
  if (t.kind == Kind::kProduct || (t.kind == Kind::kOp && t.op == Op::kExp))
    return extremum_of_power(reducer, domain, body);
  if (t.kind != Kind::kOp || (t.op != Op::kMax && t.op != Op::kMin && !is_monotone(t.op)))
    return close(reducer, domain, body);
  if ((t.op != Op::kMax || reducer != Reducer::kMax) && (t.op != Op::kMin || reducer != Reducer::kMin)) {
    const auto moves =
        std::count_if(t.args.begin(), t.args.end(), [&](TermId a) { return pool_.depends(a, domain.binders); });
    if (moves != 1 || !has_point(pool_, domain.binders, domain.conditions)) return close(reducer, domain, body);
  }
  std::vector<TermId> args;
  for (const TermId a : t.args) args.push_back(extremum_over(reducer, domain, a));
  return is_monotone(t.op) ? pool_.op(t.op, args, t.dtype) : extremum(t.op, args);
}

// max[b](exp(e)) = exp(max[b](e)); max[b](e**a) = max[b](e)**a with e > 0, a minimum with a < 0.
TermId Expressions::extremum_of_power(Reducer reducer, const Domain& domain, TermId body) {
  const std::vector<Factor> factors = polys_.factors(body);
  if (!has_point(pool_, domain.binders, domain.conditions)) return close(reducer, domain, body);
  Poly exponent;
  bool exponential = true;
  for (const Factor& f : factors) {
    const Term& base = pool_.at(f.base);
    exponential = exponential && base.kind == Kind::kOp && base.op == Op::kExp && signs_.positive(f.base);
    if (exponential) exponent = polys_.plus(exponent, polys_.of(base.args[0]), f.exponent);
  }
  if (exponential) return this->exponential(extremum_over(reducer, domain, polys_.term(exponent)));
  if (factors.size() != 1 || factors[0].exponent == kOne || !signs_.positive(factors[0].base))
    return close(reducer, domain, body);
  const Reducer other = reducer == Reducer::kMax ? Reducer::kMin : Reducer::kMax;
  const TermId inner = extremum_over(factors[0].exponent.num < 0 ? other : reducer, domain, factors[0].base);
  return polys_.term(polys_.power(polys_.of(inner), factors[0].exponent));
}

TermId Expressions::extremum_of_dependent(Reducer reducer, const Domain& domain, const Poly& body) {
  Rational scale = polys_.leading(body);
  std::vector<Factor> before, inside;
  if (body.size() == 1) {
    for (const Factor& f : polys_.factors(body.begin()->first)) {
      const bool out = !pool_.depends(f.base, domain.binders) && signs_.positive(f.base);
      (out ? before : inside).push_back(f);
    }
  }
  const auto inverse = Rational::of(scale.den, scale.num);
  if (!inverse) return close(reducer, domain, polys_.term(body));
  const Poly smaller =
      polys_.scaled(body.size() == 1 ? polys_.scaled(polys_.from_factors(inside), scale) : body, *inverse);
  const bool flip = scale.num < 0;
  const Reducer other = reducer == Reducer::kMax ? Reducer::kMin : Reducer::kMax;
  const TermId core = extremum_of_monotone(flip ? other : reducer, domain, polys_.term(smaller));
  return polys_.term(polys_.scaled(polys_.times(polys_.from_factors(before), polys_.of(core)), scale));
}

}  // namespace solstice::ir::normal
