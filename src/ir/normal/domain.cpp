// Domains of reductions in their shortest form; the passes `split_radix`, `solve` and `absorb` each allow some of the
// steps.
//
//   v < 1                           v is 0                                                           (split_radix)
//   k*v + rest == 0                 v = -rest/k, where k divides it and it lies in v's range         (solve)
//   (w*v + k) % c == r, w c coprime v = c*v' + residue                                               (solve)
//   v >= a, v <= b                  v = v' + a, v' < b-a+1                                           (absorb)
//   a condition that follows from the others goes                                                    (absorb)
//
// Proof. Each step is a bijection between the points of the domain before and after. Of several indices that could be
// solved for, the one with the largest extent goes: of u == p+r-1 the position u, not the tap r.
#include <algorithm>
#include <numeric>

#include "base/integer.h"
#include "ir/normal/expression.h"
#include "ir/normal/terms/facts.h"

namespace solstice::ir::normal {

class DomainSteps {
 public:
  DomainSteps(Expressions& expressions, Domain& domain, Expressions::Steps steps)
      : normal_(expressions), pool_(expressions.pool_), polys_(expressions.polys_), domain_(domain), steps_(steps) {}

  void run() {
    normalise();
    for (bool more = true; more && !domain_.empty && !pool_.exceeded();) {
      more = (steps_.split && drop_point()) || (steps_.solve && (solve_equality() || split_residue())) ||
             (steps_.absorb && tighten());
    }
    if (steps_.absorb && !domain_.empty) drop_implied();
  }

 private:
  void normalise() {
    std::vector<TermId> out;
    for (const TermId c : domain_.conditions) {
      for (const TermId each : normal_.conjuncts(normal_.of_integers(c))) {
        if (normal_.is_false(each)) domain_.empty = true;
        if (!normal_.is_true(each) && std::find(out.begin(), out.end(), each) == out.end()) out.push_back(each);
      }
    }
    domain_.conditions = std::move(out);
  }

  void replace(int binder, TermId value, const std::vector<int>& instead) {
    std::erase(domain_.binders, binder);
    domain_.binders.insert(domain_.binders.end(), instead.begin(), instead.end());
    for (TermId& c : domain_.conditions) c = pool_.substitute(c, {{binder, value}});
    for (TermId& c : domain_.carried) c = pool_.substitute(c, {{binder, value}});
    normalise();
  }

  int64_t extent(int binder) const { return pool_.var(binder).extent; }

  bool drop_point() {
    for (const int b : domain_.binders) {
      if (extent(b) <= 0) domain_.empty = true;
      if (extent(b) != 1) continue;
      replace(b, pool_.constant(0), {});
      return true;
    }
    return false;
  }

  bool is_index_form(TermId id) const {
    const Term& t = pool_.at(id);
    if (t.kind == Kind::kRead || t.kind == Kind::kReduce) return false;
    return pool_.is_integral(id) &&
           std::all_of(t.args.begin(), t.args.end(), [&](TermId a) { return is_index_form(a); });
  }

  // The binder with the largest extent that the form is linear in; -1: none.
  int solvable(const Poly& form) const {
    int best = -1;
    for (const int b : domain_.binders) {
      int linear = 0, others = 0;
      for (const auto& [m, w] : form) {
        if (pool_.depends(m, b)) (pool_.at(m).kind == Kind::kVar ? linear : others) += 1;
      }
      if (linear == 1 && others == 0 && (best < 0 || extent(b) > extent(best))) best = b;
    }
    return best;
  }

  bool solve_equality() {
    for (size_t c = 0; c < domain_.conditions.size(); ++c) {
      const Term& t = pool_.at(domain_.conditions[c]);
      if (!compares_with_zero(pool_, t) || t.op != Op::kEq || !is_index_form(t.args[0])) continue;
      Poly form = polys_.of(t.args[0]);
      const int b = solvable(form);
      if (b < 0) continue;
      const auto mine = form.find(pool_.variable(b));
      const int64_t k = mine->second.num;
      int64_t most = 0;
      if (__builtin_mul_overflow(k > 0 ? k : -k, extent(b) - 1, &most)) continue;
      form.erase(mine);
      const TermId rest = polys_.term(polys_.scaled(form, Rational{k > 0 ? -1 : 1, 1}));  // |k| * v
      domain_.conditions.erase(domain_.conditions.begin() + static_cast<std::ptrdiff_t>(c));
      const int64_t size = k > 0 ? k : -k;
      const TermId divisor = pool_.constant(size);
      domain_.conditions.push_back(pool_.op(Op::kGe, {rest, pool_.constant(0)}));
      domain_.conditions.push_back(pool_.op(Op::kLe, {rest, pool_.constant(most)}));
      if (size > 1)
        domain_.conditions.push_back(pool_.op(Op::kEq, {pool_.op(Op::kMod, {rest, divisor}), pool_.constant(0)}));
      replace(b, size > 1 ? pool_.op(Op::kFloorDiv, {rest, divisor}) : rest, {});
      return true;
    }
    return false;
  }

  // w*v + k == r (mod c) with no other index.
  bool split_residue() {
    for (const TermId condition : domain_.conditions) {
      const Term& t = pool_.at(condition);
      if (!compares_with_zero(pool_, t) || t.op != Op::kEq) continue;
      int64_t wanted = 0;
      TermId remainder = -1;
      for (const auto& [m, w] : polys_.of(t.args[0])) {
        if (m == polys_.one())
          wanted = -w.num;
        else
          remainder = remainder < 0 && w.is(1) ? m : 0;
      }
      if (remainder <= 0 || pool_.at(remainder).kind != Kind::kOp || pool_.at(remainder).op != Op::kMod) continue;
      const Term& divisor = pool_.at(pool_.at(remainder).args[1]);
      Poly inside = polys_.of(pool_.at(remainder).args[0]);
      if (const auto offset = inside.find(polys_.one()); offset != inside.end())
        wanted -= offset->second.num, inside.erase(offset);
      if (inside.size() != 1 || divisor.kind != Kind::kConst || pool_.at(inside.begin()->first).kind != Kind::kVar)
        continue;
      if (split(pool_.at(inside.begin()->first).id, inside.begin()->second.num, divisor.number.num, wanted))
        return true;
    }
    return false;
  }

  bool split(int binder, int64_t weight, int64_t c, int64_t wanted) {
    constexpr int64_t kMostResidues = 1024;
    if (std::find(domain_.binders.begin(), domain_.binders.end(), binder) == domain_.binders.end()) return false;
    if (c <= 1 || c > kMostResidues || std::gcd(weight, c) != 1) return false;
    int64_t residue = 0;
    while ((weight * residue - wanted) % c != 0) ++residue;
    const int64_t count = residue < extent(binder) ? (extent(binder) - residue + c - 1) / c : 0;
    if (count == 0) return domain_.empty = true;
    const int digit = pool_.fresh(pool_.var(binder).name, count);
    replace(binder, pool_.sum({pool_.variable(digit), polys_.one()}, {Rational{c, 1}, Rational{residue, 1}}), {digit});
    return true;
  }

  bool tighten() {
    for (const int b : domain_.binders) {
      int64_t low = 0, high = extent(b) - 1;
      for (const TermId c : domain_.conditions) bound(c, b, low, high);
      if (low == 0 && high == extent(b) - 1) continue;
      if (low > high) return domain_.empty = true;
      const int shifted = pool_.fresh(pool_.var(b).name, high - low + 1);
      const TermId v = pool_.variable(shifted);
      replace(b, low == 0 ? v : pool_.sum({v, polys_.one()}, {Rational{1, 1}, Rational{low, 1}}), {shifted});
      return true;
    }
    return false;
  }

  // Narrows low..high where the condition is about this binder alone.
  void bound(TermId condition, int binder, int64_t& low, int64_t& high) const {
    const Term& t = pool_.at(condition);
    if (!compares_with_zero(pool_, t) || t.op != Op::kGe || !pool_.is_integral(t.args[0])) return;
    Poly form = polys_.of(t.args[0]);
    const auto offset = form.find(polys_.one());
    const int64_t k = offset == form.end() ? 0 : offset->second.num;
    if (offset != form.end()) form.erase(offset);
    if (form.size() != 1 || pool_.at(form.begin()->first).kind != Kind::kVar ||
        pool_.at(form.begin()->first).id != binder)
      return;
    const int64_t w = form.begin()->second.num;
    if (w > 0)
      low = std::max(low, -floor_div(k, w));
    else
      high = std::min(high, floor_div(k, -w));
  }

  void drop_implied() {
    auto tidy = tidied(pool_, domain_.conditions);
    domain_.empty = !tidy;
    if (tidy) domain_.conditions = std::move(*tidy);
  }

  Expressions& normal_;
  Pool& pool_;
  Polynomials& polys_;
  Domain& domain_;
  Expressions::Steps steps_;
};

TermId Expressions::of_integers(TermId t) {
  if (enabled_.algebra) return (*this)(t);
  const std::function<bool(TermId)> plain = [&](TermId id) {
    const Term& e = pool_.at(id);
    return pool_.is_integral(id) && e.kind != Kind::kReduce && std::all_of(e.args.begin(), e.args.end(), plain);
  };
  return plain(t) ? (*this)(t) : t;
}

void Expressions::simplify(Domain& domain, Steps steps) { DomainSteps(*this, domain, steps).run(); }

}  // namespace solstice::ir::normal
