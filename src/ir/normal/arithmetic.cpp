// Integers and conditions: `//`, `%` and comparisons of affine forms.
//
//   (c*q + r) // c = q + r // c;  (c*q + r) % c = r % c;  both are plain where 0 <= r < c
//   (g*r + k) // (g*c) = r // c;  (g*r + k) % (g*c) = g * (r % c) + k, where 0 <= k < g
//   c * (a // c) + a % c = a;  a // c >= k is a >= c*k
//   a < b  is  b - a - 1 >= 0 over the integers and b - a > 0 over the reals, divided by what all coefficients share
//
// Proof. Floors and remainders of integers; where both sides are provably finite, one of a < b, a == b, a > b holds.
// Other comparisons stay as they are: of NaN all but != are false, and the difference of equal infinities is NaN.
#include <algorithm>
#include <numeric>

#include "base/integer.h"
#include "ir/normal/expression.h"
#include "ir/normal/terms/facts.h"
#include "ir/normal/terms/range.h"

namespace solstice::ir::normal {
namespace {

bool is_comparison(const Term& t) {
  return t.kind == Kind::kOp && (t.op == Op::kGe || t.op == Op::kGt || t.op == Op::kEq || t.op == Op::kNe);
}

bool is_equality(const Term& t) { return t.kind == Kind::kOp && (t.op == Op::kEq || t.op == Op::kNe); }

}  // namespace

TermId Expressions::division(Op op, TermId a, TermId b) {
  const Term& divisor = pool_.at(b);
  const Poly p = polys_.of(a);
  const bool whole = std::all_of(p.begin(), p.end(),
                                 [&](const auto& m) { return m.second.is_integer() && pool_.is_integral(m.first); });
  if (divisor.kind != Kind::kConst || !divisor.number.is_integer() || divisor.number.num <= 0 || !whole ||
      !enabled_.split_radix)
    return pool_.op(op, {a, b});
  const int64_t c = divisor.number.num;
  Poly multiple, quotient, rest, remainder;  // a = c * multiple + rest = c * quotient + remainder
  for (const auto& [m, w] : p) {
    if (w.num % c == 0)
      multiple[m] = Rational{w.num / c, 1};
    else
      rest[m] = w;
    const int64_t q = floor_div(w.num, c);
    if (q != 0) quotient[m] = Rational{q, 1};
    if (w.num != q * c) remainder[m] = Rational{w.num - q * c, 1};
  }
  const ValueRange direct = range_of(pool_, polys_.term(rest));
  if (direct.low >= 0 && direct.high < c) return polys_.term(op == Op::kMod ? rest : multiple);
  const ValueRange range = range_of(pool_, polys_.term(remainder));
  if (range.low >= 0 && range.high < c) return polys_.term(op == Op::kMod ? remainder : quotient);
  for (const auto& [digit, g] : remainder) {  // remainder = g*high + low, 0 <= low < g, g divides c
    if (digit == polys_.one() || g.num <= 1 || c % g.num != 0) continue;
    Poly high, low;
    for (const auto& [m, w] : remainder) {
      const int64_t q = floor_div(w.num, g.num);
      if (q != 0) high[m] = Rational{q, 1};
      if (w.num != q * g.num) low[m] = Rational{w.num - q * g.num, 1};
    }
    const ValueRange within_digit = range_of(pool_, polys_.term(low));
    if (within_digit.low < 0 || within_digit.high >= g.num) continue;
    const Poly rest_of = polys_.of(division(op, polys_.term(high), pool_.constant(c / g.num)));
    return polys_.term(op == Op::kMod ? polys_.plus(low, rest_of, g) : polys_.plus(quotient, rest_of));
  }
  const TermId left = polys_.term(remainder);
  if (op == Op::kMod) return pool_.op(op, {left, b});
  const Term& nested = pool_.at(left);
  if (nested.kind == Kind::kOp && nested.op == Op::kFloorDiv && pool_.at(nested.args[1]).kind == Kind::kConst) {
    const auto product = multiply(pool_.at(nested.args[1]).number, divisor.number);
    if (product)
      return polys_.term(polys_.plus(quotient, polys_.of(division(op, nested.args[0], pool_.constant(*product)))));
  }
  return polys_.term(polys_.plus(quotient, polys_.of(pool_.op(op, {left, b}))));
}

// a // c + k >= 0 is a + c*k >= 0; -(a // c) + k >= 0 is c*k + c-1 - a >= 0.
std::optional<Poly> Expressions::without_quotient(const Poly& p) {
  for (const auto& [m, w] : p) {
    const Term& t = pool_.at(m);
    if (t.kind != Kind::kOp || t.op != Op::kFloorDiv || pool_.at(t.args[1]).kind != Kind::kConst ||
        (w.num != 1 && w.num != -1))
      continue;
    const Rational c = pool_.at(t.args[1]).number;
    if (c.num <= 0) continue;  // computed: rounds the other way
    Poly k = p;
    k.erase(m);
    Poly out = polys_.plus(polys_.scaled(k, c), polys_.of(t.args[0]), w);
    return w.num > 0 ? out : polys_.plus(out, polys_.constant(Rational{c.num - 1, 1}));
  }
  return std::nullopt;
}

// c * (a // c) + a % c = a
Poly Expressions::recombined(Poly p) {
  for (const auto& [m, w] : p) {
    const Term& t = pool_.at(m);
    if (t.kind != Kind::kOp || t.op != Op::kMod || pool_.at(t.args[1]).kind != Kind::kConst) continue;
    const auto quotient = p.find(division(Op::kFloorDiv, t.args[0], t.args[1]));
    const auto wanted = multiply(w, pool_.at(t.args[1]).number);
    if (quotient == p.end() || !wanted || !(quotient->second == *wanted)) continue;
    Poly rest = p;
    rest.erase(m);
    rest.erase(quotient->first);
    return recombined(polys_.plus(rest, polys_.of(t.args[0]), w));
  }
  return p;
}

TermId Expressions::at_least_zero(const Poly& p, bool strict) {
  const bool whole = std::all_of(p.begin(), p.end(),
                                 [&](const auto& m) { return m.second.is_integer() && pool_.is_integral(m.first); });
  Poly q = p;
  if (whole) {
    if (strict) q = polys_.plus(q, polys_.constant(kOne), kMinus);
    int64_t shared = 0;
    for (const auto& [m, w] : q) shared = m == polys_.one() ? shared : std::gcd(shared, w.num);
    if (shared > 1) {
      Poly smaller;
      for (const auto& [m, w] : q) {
        if (const int64_t each = floor_div(w.num, shared); each != 0) smaller[m] = Rational{each, 1};
      }
      q = smaller;
    }
    if (const auto plain = without_quotient(q)) return at_least_zero(*plain, false);
    const ValueRange range = range_of(pool_, polys_.term(q));
    if (range.low >= 0) return pool_.boolean(true);
    if (range.high < 0) return pool_.boolean(false);
    return pool_.op(Op::kGe, {polys_.term(q), pool_.constant(0)});
  }
  Rational lead = polys_.leading(q);
  if (lead.num < 0) lead.num = -lead.num;
  if (const auto inverse = Rational::of(lead.den, lead.num)) q = polys_.scaled(q, *inverse);
  const TermId form = polys_.term(q);
  if (pool_.at(form).kind == Kind::kConst)
    return pool_.boolean(strict ? pool_.at(form).number.num > 0 : pool_.at(form).number.num >= 0);
  return pool_.op(strict ? Op::kGt : Op::kGe, {form, pool_.constant(0)});
}

TermId Expressions::equal_zero(const Poly& p, bool equal) {
  Poly q = p;
  const bool whole = std::all_of(p.begin(), p.end(),
                                 [&](const auto& m) { return m.second.is_integer() && pool_.is_integral(m.first); });
  const Rational lead = polys_.leading(q);
  if (whole) {
    int64_t shared = 0, offset = 0;
    for (const auto& [m, w] : q)
      (m == polys_.one() ? offset : shared) = m == polys_.one() ? w.num : std::gcd(shared, w.num);
    if (shared != 0 && offset % shared != 0) return pool_.boolean(!equal);
    if (shared != 0) q = polys_.scaled(q, Rational{1, shared});
    if (lead.num < 0) q = polys_.scaled(q, kMinus);
    const ValueRange range = range_of(pool_, polys_.term(q));
    if (range.low > 0 || range.high < 0) return pool_.boolean(!equal);
  } else if (const auto inverse = Rational::of(lead.den, lead.num)) {
    q = polys_.scaled(q, *inverse);
  }
  const TermId form = polys_.term(q);
  if (pool_.at(form).kind == Kind::kConst) return pool_.boolean((pool_.at(form).number.num == 0) == equal);
  return pool_.op(equal ? Op::kEq : Op::kNe, {form, pool_.constant(0)});
}

TermId Expressions::comparison(Op op, TermId a, TermId b) {
  if (op == Op::kLt || op == Op::kLe) return comparison(op == Op::kLt ? Op::kGt : Op::kGe, b, a);
  const bool symmetric = op == Op::kEq || op == Op::kNe;
  const bool literal = pool_.at(a).kind == Kind::kReal || pool_.at(b).kind == Kind::kReal;
  if (literal || !signs_.finite(a) || !signs_.finite(b))
    return pool_.op(op, symmetric && b < a ? std::vector{b, a} : std::vector{a, b});
  const Poly difference = polys_.plus(polys_.of(a), polys_.of(b), kMinus);
  if (op == Op::kGt || op == Op::kGe) return at_least_zero(difference, op == Op::kGt);
  return equal_zero(difference, op == Op::kEq);
}

TermId Expressions::connected(Op op, const std::vector<TermId>& args) {
  std::vector<TermId> all;
  for (const TermId a : args) {
    const Term& t = pool_.at(a);
    if (op == Op::kAnd ? is_false(a) : is_true(a)) return a;
    if (is_true(a) || is_false(a)) continue;
    if (t.kind == Kind::kOp && t.op == op)
      all.insert(all.end(), t.args.begin(), t.args.end());
    else
      all.push_back(a);
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  if (all.empty()) return pool_.boolean(op == Op::kAnd);
  return all.size() == 1 ? all[0] : pool_.op(op, std::move(all));
}

TermId Expressions::negated(TermId condition) {
  const Term t = pool_.at(condition);
  if (t.kind == Kind::kConst) return pool_.boolean(t.number.num == 0);
  if (t.kind == Kind::kOp && t.op == Op::kNot) return t.args[0];
  if (t.kind == Kind::kOp && (t.op == Op::kAnd || t.op == Op::kOr)) {
    std::vector<TermId> args;
    for (const TermId a : t.args) args.push_back(negated(a));
    return connected(t.op == Op::kAnd ? Op::kOr : Op::kAnd, args);
  }
  const bool finite = is_comparison(t) && signs_.finite(t.args[0]) && signs_.finite(t.args[1]);
  if (is_equality(t) && !finite) return pool_.op(t.op == Op::kEq ? Op::kNe : Op::kEq, t.args);
  if (!finite || !compares_with_zero(pool_, t)) return pool_.op(Op::kNot, {condition});
  const Poly p = polys_.of(t.args[0]);
  if (t.op == Op::kEq || t.op == Op::kNe) return equal_zero(p, t.op == Op::kNe);
  return at_least_zero(polys_.scaled(p, kMinus), t.op == Op::kGe);
}

std::vector<TermId> Expressions::conjuncts(TermId condition) const {
  const Term& t = pool_.at(condition);
  if (t.kind == Kind::kOp && t.op == Op::kAnd) return t.args;
  return {condition};
}

}  // namespace solstice::ir::normal
