#include "ir/normal/terms/polynomial.h"

#include <algorithm>

#include "ir/normal/terms/facts.h"

namespace solstice::ir::normal {
namespace {

bool is_power(const Pool& pool, TermId base, Op op) {
  return pool.at(base).kind == Kind::kOp && pool.at(base).op == op;
}

}  // namespace

Poly Polynomials::constant(Rational value) const { return value.num == 0 ? Poly{} : Poly{{one_, value}}; }

Poly Polynomials::of(TermId id) const {
  const Term& t = pool_.at(id);
  if (t.kind == Kind::kConst) return constant(t.number);
  if (t.kind != Kind::kSum) return atom(id);
  Poly out;
  for (size_t i = 0; i < t.args.size(); ++i) out[t.args[i]] = t.weights[i];
  return out;
}

TermId Polynomials::term(const Poly& p) {
  if (p.empty()) return pool_.constant(0);
  if (p.size() == 1 && p.begin()->first == one_) return pool_.constant(p.begin()->second);
  if (p.size() == 1 && p.begin()->second == kOne) return p.begin()->first;
  std::vector<TermId> args;
  std::vector<Rational> weights;
  for (const auto& [t, w] : p) args.push_back(t), weights.push_back(w);
  return pool_.sum(std::move(args), std::move(weights));
}

namespace {

int sign_of(Rational w) { return w.num > 0 ? 1 : w.num < 0 ? -1 : 0; }

}  // namespace

Poly Polynomials::operation(Op op, const Poly& a, const Poly& b) { return atom(pool_.op(op, {term(a), term(b)})); }

Poly Polynomials::plus(const Poly& a, const Poly& b, Rational factor) {
  Poly out = a;
  for (const auto& [t, w] : b) {
    const auto added = multiply(w, factor);
    const auto found = out.find(t);
    const auto total = !added ? std::nullopt : found == out.end() ? added : add(found->second, *added);
    if (!total) return of_overflow(a, b, factor);
    const bool finite = signs_.finite(t);
    if (!finite && found != out.end() && sign_of(found->second) != sign_of(*added)) nan_where_infinite(out, t);
    if (total->num == 0 && finite)
      out.erase(t);
    else
      out[t] = *total;
  }
  return out;
}

Poly Polynomials::of_overflow(const Poly& a, const Poly& b, Rational factor) {
  if (factor.is(1)) return operation(Op::kAdd, a, b);
  return factor.is(-1) ? operation(Op::kSub, a, b) : operation(Op::kAdd, a, operation(Op::kMul, b, constant(factor)));
}

// 2*t - t and t + 0*t are NaN where t is infinite: the sum keeps a term 0*t then.
void Polynomials::nan_where_infinite(Poly& p, TermId t) { p[pool_.op(Op::kMul, {pool_.constant(0), t})] = kOne; }

Poly Polynomials::scaled(const Poly& p, Rational factor) {
  Poly out;
  for (const auto& [t, w] : p) {
    if (factor.num == 0 && signs_.finite(t)) continue;
    const auto product = multiply(w, factor);
    if (!product) return operation(Op::kMul, p, constant(factor));
    out[t] = *product;
  }
  return out;
}

std::vector<Factor> Polynomials::factors(TermId monomial) const {
  const Term& t = pool_.at(monomial);
  if (monomial == one_) return {};
  if (t.kind != Kind::kProduct) return {{monomial, kOne}};
  std::vector<Factor> out;
  for (size_t i = 0; i < t.args.size(); ++i) out.push_back({t.args[i], t.weights[i]});
  return out;
}

bool Polynomials::merges(TermId base, Rational a, Rational b) {
  const bool same_sign = (a.num > 0) == (b.num > 0);
  if (same_sign && a.is_integer() && b.is_integer()) return true;
  return signs_.positive(base) || (same_sign && signs_.nonnegative(base));
}

// Guards become one; a base has one exponent of each sort that may not be merged.
void Polynomials::insert(std::vector<Factor>& factors, Factor f) {
  for (Factor& known : factors) {
    if (pool_.at(known.base).kind == Kind::kGuard && pool_.at(f.base).kind == Kind::kGuard) {
      std::vector<TermId> all = pool_.at(known.base).args;
      all.insert(all.end(), pool_.at(f.base).args.begin(), pool_.at(f.base).args.end());
      const auto tidy = tidied(pool_, std::move(all));
      known.base = !tidy ? pool_.constant(0) : tidy->empty() ? one_ : pool_.guard(*tidy);
      return;
    }
    if (known.base != f.base || !merges(f.base, known.exponent, f.exponent)) continue;
    if (const auto total = add(known.exponent, f.exponent)) {
      known.exponent = *total;
      return;
    }
  }
  factors.push_back(f);
}

Poly Polynomials::from_factors(const std::vector<Factor>& all) {
  std::vector<Factor> merged;
  for (const Factor& f : all) insert(merged, f);
  Poly out = constant(kOne);
  std::vector<TermId> args;
  std::vector<Rational> weights;
  for (const Factor& f : merged) {
    if (f.exponent.num == 0 || f.base == one_) continue;
    if (pool_.is_const(f.base, 0) && f.exponent.num > 0) return {};
    const Term& base = pool_.at(f.base);
    const bool whole = f.exponent.is_integer() && (f.exponent.num > 0 || base.kind == Kind::kConst);
    const bool compound = base.kind == Kind::kSum || base.kind == Kind::kProduct || base.kind == Kind::kConst;
    const auto number = whole && base.kind == Kind::kConst ? ir::power(base.number, f.exponent.num) : std::nullopt;
    if (number) {
      out = scaled(out, *number);
    } else if (whole && compound && all.size() != merged.size() && base.kind != Kind::kConst) {
      out = times(out, power(of(f.base), f.exponent));  // two roots of a sum made it whole
    } else {
      args.push_back(f.base), weights.push_back(f.exponent);
    }
  }
  if (args.empty()) return out;
  const bool single = args.size() == 1 && weights[0] == kOne;
  const TermId product = single ? args[0] : pool_.product(std::move(args), std::move(weights));
  if (out.size() == 1 && out.begin()->first == one_) return {{product, out.begin()->second}};
  return times(out, atom(product));
}

Poly Polynomials::monomial_times(TermId a, TermId b) {
  if (a == one_) return atom(b);
  if (b == one_) return atom(a);
  std::vector<Factor> all = factors(a);
  const std::vector<Factor> more = factors(b);
  all.insert(all.end(), more.begin(), more.end());
  return from_factors(all);
}

Poly Polynomials::times(const Poly& a, const Poly& b) {
  if (pool_.exceeded()) return {};
  if (a.empty() || b.empty()) return scaled(a.empty() ? b : a, Rational{0, 1});
  if (a.size() * b.size() > pool_.limits().expansion && a.size() > 1 && b.size() > 1) {
    return from_factors({{term(a), kOne}, {term(b), kOne}});
  }
  Poly out;
  for (const auto& [x, v] : a) {
    for (const auto& [y, w] : b) {
      const auto weight = multiply(v, w);
      if (!weight) return operation(Op::kMul, a, b);
      out = plus(out, monomial_times(x, y), *weight);
    }
  }
  return out;
}

Rational Polynomials::leading(const Poly& p) const {
  uint64_t least = 0;
  std::optional<Rational> out;
  bool tied = false;
  for (const auto& [t, w] : p) {
    const uint64_t shape = pool_.at(t).shape;
    if (out && shape == least) tied = tied || !(w == *out);
    if (out && shape >= least) continue;
    least = shape, out = w, tied = false;
  }
  return out && !tied ? *out : kOne;
}

// (b**k)**e as b**(k*e)?
bool Polynomials::splits(const Factor& f, Rational e) {
  if (pool_.at(f.base).kind == Kind::kGuard) return e.num > 0;
  if (signs_.positive(f.base)) return true;
  if (f.exponent.num > 0 && f.exponent.is_integer() && e.is_integer()) return true;
  const auto whole = multiply(f.exponent, e);
  if (f.exponent.num > 0 && e.is_integer() && (signs_.nonnegative(f.base) || (whole && !whole->is_integer())))
    return true;
  return f.exponent.num < 0 && f.exponent.is_integer() && e.is_integer() && e.num > 0;
}

// A guard that divides is no guard: 1/0 is not left out.
TermId Polynomials::divisor(TermId guard) {
  std::vector<TermId> conditions = pool_.at(guard).args;
  const TermId all = conditions.size() == 1 ? conditions[0] : pool_.op(Op::kAnd, std::move(conditions));
  return pool_.op(Op::kSelect, {all, one_, pool_.constant(0)});
}

Poly Polynomials::monomial_power(TermId monomial, Rational weight, Rational e) {
  std::vector<Factor> out, rest;
  for (const Factor& f : factors(monomial)) {
    const auto exponent = multiply(f.exponent, e);
    const bool guard = pool_.at(f.base).kind == Kind::kGuard;
    if (exponent && splits(f, e))
      out.push_back({f.base, guard ? kOne : *exponent});
    else
      rest.push_back(f);
  }
  std::optional<Rational> number;
  if (e.is_integer())
    number = ir::power(weight, e.num);
  else if (const auto root = e.den == 2 ? square_root(weight) : std::nullopt)
    number = ir::power(*root, e.num);
  Rational inside = kOne;
  if (!number) {
    number = kOne;
    if (weight.num <= 0) {
      inside = weight;
    } else {  // numerator and denominator apart, so that the root of x/3 is that of x by that of 3
      out.push_back({pool_.constant(weight.num), e});
      out.push_back({pool_.constant(weight.den), Rational{-e.num, e.den}});
    }
  }
  if (!rest.empty() || !inside.is(1)) {
    TermId base = term(scaled(from_factors(rest), inside));
    if (pool_.at(base).kind == Kind::kGuard) base = divisor(base);
    out.push_back({base, e});
  }
  return scaled(from_factors(out), *number);
}

// Positive exponentials that all terms share leave the sum: 1 + exp(-x) and exp(x) + 1 are multiples of one sum.
Poly Polynomials::without_common_exponentials(const Poly& p, std::vector<Factor>& common) {
  std::map<TermId, Rational> least;
  for (const auto& [t, w] : p) {
    for (const Factor& f : factors(t)) {
      if (is_power(pool_, f.base, Op::kExp) && signs_.positive(f.base)) least[f.base] = Rational{0, 1};
    }
  }
  for (auto& [base, low] : least) {
    bool first = true;
    for (const auto& [t, w] : p) {
      Rational here{0, 1};
      for (const Factor& f : factors(t)) here = f.base == base ? f.exponent : here;
      if (first || here.value() < low.value()) low = here;
      first = false;
    }
    if (low.num != 0) common.push_back({base, low});
  }
  if (common.empty()) return p;
  std::vector<Factor> inverse;
  for (const Factor& f : common) inverse.push_back({f.base, Rational{-f.exponent.num, f.exponent.den}});
  return times(p, from_factors(inverse));
}

Poly Polynomials::sum_power(const Poly& p, Rational e) {
  if (e.is_integer() && e.num > 0) {
    double terms = 1;
    for (int64_t i = 0; i < e.num && terms <= 1e6; ++i) terms *= static_cast<double>(p.size());
    if (terms <= static_cast<double>(pool_.limits().expansion)) {
      Poly out = p;
      for (int64_t i = 1; i < e.num; ++i) out = times(out, p);
      return out;
    }
  }
  std::vector<Factor> common;
  Poly base = without_common_exponentials(p, common);
  Rational lead = leading(base);
  if (!e.is_integer() && lead.num < 0) lead.num = -lead.num;
  const auto inverse = Rational::of(lead.den, lead.num);
  const auto number = e.is_integer() ? ir::power(lead, e.num) : std::nullopt;
  std::vector<Factor> out;
  for (const Factor& f : common) {
    const auto exponent = multiply(f.exponent, e);
    if (!exponent) return atom(pool_.op(Op::kPow, {term(p), pool_.constant(e)}));
    out.push_back({f.base, *exponent});
  }
  if (!inverse || (e.is_integer() && !number)) {
    out.push_back({term(base), e});
    return from_factors(out);
  }
  out.push_back({term(scaled(base, *inverse)), e});
  const Poly scale = e.is_integer() ? constant(*number) : monomial_power(one_, lead, e);
  return times(scale, from_factors(out));
}

Poly Polynomials::power(const Poly& p, Rational e) {
  if (e.num == 0) return constant(kOne);
  if (e.is(1) || pool_.exceeded()) return p;
  if (p.empty()) return e.num > 0 ? p : atom(pool_.op(Op::kPow, {pool_.constant(0), pool_.constant(e)}));
  if (p.size() == 1) return monomial_power(p.begin()->first, p.begin()->second, e);
  return sum_power(p, e);
}

}  // namespace solstice::ir::normal
