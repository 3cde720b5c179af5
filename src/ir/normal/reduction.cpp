// Reductions of the pass `algebra`: sums distributed, split and merged; terms and positive factors out of extrema.
#include <algorithm>
#include <limits>
#include <numeric>
#include <set>

#include "ir/normal/expression.h"
#include "ir/normal/name.h"
#include "ir/normal/terms/facts.h"

namespace solstice::ir::normal {
namespace {

constexpr size_t kMostSummed = 12;  // of one sum: their order has to be found

bool gives_positions(Reducer r) {
  return r == Reducer::kArgMax || r == Reducer::kArgMin || r == Reducer::kArgTop || r == Reducer::kArgBot;
}

bool is_reduction(const Pool& pool, TermId t, Reducer reducer) {
  return pool.at(t).kind == Kind::kReduce && pool.at(t).reducer == reducer;
}

}  // namespace

TermId of_nothing(Pool& pool, Reducer reducer) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (reducer == Reducer::kMax || reducer == Reducer::kMin)
    return pool.real(reducer == Reducer::kMax ? -kInfinity : kInfinity);
  return pool.constant(reducer == Reducer::kProd || reducer == Reducer::kAll ? 1 : 0);
}

TermId Expressions::close(Reducer reducer, const Domain& domain, TermId body) {
  std::vector<TermId> args{body};
  args.insert(args.end(), domain.conditions.begin(), domain.conditions.end());
  return closed(pool_, reducer, domain.binders, args, enabled_.name);
}

TermId Expressions::reduction(const Term& t, const std::vector<TermId>& args) {
  if (gives_positions(t.reducer)) return closed(pool_, t.reducer, t.binders, args, false);
  if (t.reducer == Reducer::kMean || t.reducer == Reducer::kVar || t.reducer == Reducer::kLogSumExp)
    return closed(pool_, t.reducer, t.binders, args, enabled_.name);
  Domain domain{t.binders, {args.begin() + 1, args.end()}, {args[0]}, false};
  simplify(domain, steps());
  if (domain.empty) return of_nothing(pool_, t.reducer);
  const TermId body = (*this)(domain.carried[0]);
  if (t.reducer == Reducer::kSum) return polys_.term(sum_over(domain, polys_.of(body)));
  if (t.reducer == Reducer::kMax || t.reducer == Reducer::kMin) return extremum_over(t.reducer, domain, body);
  return domain.binders.empty() ? at_one_point(t.reducer, domain.conditions, body) : close(t.reducer, domain, body);
}

// A reduction over a domain that is one point or none.
TermId Expressions::at_one_point(Reducer reducer, const std::vector<TermId>& conditions, TermId body) {
  const TermId holds = connected(Op::kAnd, conditions);
  return is_true(holds) ? body : select(holds, body, of_nothing(pool_, reducer));
}

Poly Expressions::sum_over(const Domain& domain, const Poly& body) {
  Poly out;
  for (const auto& [monomial, weight] : body) {
    if (pool_.exceeded()) return {};
    out = polys_.plus(out, sum_of_monomial(domain, monomial), weight);
  }
  return out;
}

Poly Expressions::sum_of_monomial(Domain domain, TermId monomial) {
  std::vector<Factor> factors;
  bool guarded = false;
  for (const Factor& f : polys_.factors(monomial)) {
    const Term& base = pool_.at(f.base);
    if (base.kind != Kind::kGuard || !enabled_.absorb) {
      factors.push_back(f);
      continue;
    }
    domain.conditions.insert(domain.conditions.end(), base.args.begin(), base.args.end());
    guarded = true;
  }
  if (!guarded) return sum_of_parts(domain, factors);
  const Poly body = polys_.from_factors(factors);
  const TermId before = polys_.term(body);
  domain.carried = {before};
  simplify(domain, steps());
  if (domain.empty) return {};
  const TermId after = domain.carried[0] == before ? before : (*this)(domain.carried[0]);
  return sum_over(domain, polys_.of(after));
}

// sum[b](P * sum[c](Q)) = sum[b,c](P * Q), where Q depends on b.
std::optional<Poly> Expressions::merged_inner_sum(const Domain& domain, const std::vector<Factor>& factors) {
  for (size_t i = 0; i < factors.size(); ++i) {
    const TermId base = factors[i].base;
    if (!(factors[i].exponent == kOne) || !is_reduction(pool_, base, Reducer::kSum) ||
        !pool_.depends(base, domain.binders))
      continue;
    if (domain.binders.size() + pool_.at(base).binders.size() > kMostSummed) continue;
    std::vector<Factor> others = factors;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    const Term& reduction = pool_.at(base);  // where it has no point the other factors would not be computed any more
    const bool has_points = has_point(pool_, reduction.binders, {reduction.args.begin() + 1, reduction.args.end()});
    if (!has_points && !std::all_of(others.begin(), others.end(), [&](const Factor& f) { return is_finite(f); }))
      continue;
    const Opened inner = opened(pool_, base);
    Domain joint = domain;
    joint.binders.insert(joint.binders.end(), inner.binders.begin(), inner.binders.end());
    joint.conditions.insert(joint.conditions.end(), inner.args.begin() + 1, inner.args.end());
    return sum_over(joint, polys_.times(polys_.from_factors(others), polys_.of(inner.args[0])));
  }
  return std::nullopt;
}

bool Expressions::is_finite(const Factor& f) {
  return signs_.finite(f.exponent == kOne ? f.base : pool_.product({f.base}, {f.exponent}));
}

// A part that may have no point is 0 then, whatever else there is: what may be infinite is computed at its points
// alone. The part that such factors stay in, all that may be empty in one; -1: there is none.
int Expressions::tie_to_empty_parts(const Domain& domain, const std::vector<Factor>& factors,
                                    std::vector<size_t>& part) {
  if (std::all_of(factors.begin(), factors.end(), [&](const Factor& f) { return is_finite(f); })) return -1;
  std::set<size_t> joined;
  for (const size_t p : std::set<size_t>(part.begin(), part.end())) {
    std::vector<int> own;
    for (size_t b = 0; b < part.size(); ++b) {
      if (part[b] == p) own.push_back(domain.binders[b]);
    }
    std::vector<TermId> conditions;
    for (const TermId c : domain.conditions) {
      if (pool_.depends(c, own)) conditions.push_back(c);
    }
    for (const Factor& f : factors) {  // a guard that the pass `absorb` did not make conditions
      const Term& base = pool_.at(f.base);
      if (base.kind == Kind::kGuard && pool_.depends(f.base, own))
        conditions.insert(conditions.end(), base.args.begin(), base.args.end());
    }
    if (!has_point(pool_, own, conditions)) joined.insert(p);
  }
  if (joined.empty()) return -1;
  for (const Factor& f : factors) {
    if (is_finite(f)) continue;
    for (size_t b = 0; b < part.size(); ++b) {
      if (pool_.depends(f.base, domain.binders[b])) joined.insert(part[b]);
    }
  }
  for (size_t& p : part) p = joined.count(p) ? *joined.begin() : p;
  return static_cast<int>(*joined.begin());
}

// Factors and conditions that share no binder are sums of their own; what has no binder stands before the sum.
Poly Expressions::sum_of_parts(const Domain& domain, const std::vector<Factor>& factors) {
  if (const auto merged = merged_inner_sum(domain, factors)) return *merged;
  std::vector<size_t> part(domain.binders.size());
  std::iota(part.begin(), part.end(), size_t{0});
  const auto join = [&](TermId t) {
    size_t first = part.size();
    for (size_t b = 0; b < part.size(); ++b) {
      if (!pool_.depends(t, domain.binders[b])) continue;
      if (first == part.size()) first = part[b];
      const size_t old = part[b];
      for (size_t& p : part) p = p == old ? first : p;
    }
  };
  for (const Factor& f : factors) join(f.base);
  for (const TermId c : domain.conditions) join(c);
  const int tied = tie_to_empty_parts(domain, factors, part);
  std::vector<Factor> before;
  for (const Factor& f : factors) {
    if (!pool_.depends(f.base, domain.binders) && (tied < 0 || is_finite(f))) before.push_back(f);
  }
  std::vector<TermId> guard;
  for (const TermId c : domain.conditions) {
    if (!pool_.depends(c, domain.binders)) guard.push_back(c);
  }
  if (!guard.empty()) before.push_back({pool_.guard(guard), kOne});
  Poly out = polys_.from_factors(before);
  for (size_t p = 0; p < part.size(); ++p) {
    Domain own;
    for (size_t b = 0; b < part.size(); ++b) {
      if (part[b] == p) own.binders.push_back(domain.binders[b]);
    }
    if (own.binders.empty()) continue;
    std::vector<Factor> inside;
    for (const TermId c : domain.conditions) {
      if (pool_.depends(c, own.binders)) own.conditions.push_back(c);
    }
    for (const Factor& f : factors) {
      const bool free = !pool_.depends(f.base, domain.binders);
      if (pool_.depends(f.base, own.binders) || (free && static_cast<int>(p) == tied && !is_finite(f)))
        inside.push_back(f);
    }
    out = polys_.times(out, sum_of_part(own, inside));
  }
  return out;
}

Poly Expressions::sum_of_part(const Domain& domain, const std::vector<Factor>& factors) {
  if (factors.empty() && domain.conditions.empty()) {
    Rational points = kOne;
    for (const int b : domain.binders) {
      const auto more = multiply(points, Rational{pool_.var(b).extent, 1});
      if (!more) return polys_.of(close(Reducer::kSum, domain, polys_.one()));
      points = *more;
    }
    return polys_.constant(points);
  }
  const Poly body = polys_.from_factors(factors);
  if (body.size() != 1) return polys_.of(close(Reducer::kSum, domain, polys_.term(body)));
  return polys_.scaled(polys_.of(close(Reducer::kSum, domain, body.begin()->first)), body.begin()->second);
}

}  // namespace solstice::ir::normal
