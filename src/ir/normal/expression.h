// Normal forms of expressions: the rules of the pass `algebra`, and the arithmetic of indices and conditions that the
// passes before it use too.
#pragma once

#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "ir/normal/form.h"
#include "ir/normal/terms/polynomial.h"

namespace solstice::ir::normal {

// Points of a reduction: a box, under conditions.
struct Domain {
  std::vector<int> binders;
  std::vector<TermId> conditions;
  std::vector<TermId> carried;  // terms over the binders: the body
  bool empty = false;
};

class Expressions {
 public:
  Expressions(Pool& pool, Enabled enabled) : pool_(pool), enabled_(enabled), signs_(pool), polys_(pool, signs_) {}

  TermId operator()(TermId t);
  // Brings a domain's binders and conditions into their shortest form; which steps are taken is up to the passes
  // enabled.
  struct Steps {
    bool solve = true, split = true, absorb = true;
  };
  void simplify(Domain& domain, Steps steps);

  TermId negated(TermId condition);
  // The conditions that must all hold for this one to.
  std::vector<TermId> conjuncts(TermId condition) const;
  // Normal form of an index or a condition on indices; of others only where the pass `algebra` runs.
  TermId of_integers(TermId t);
  bool is_false(TermId t) const { return pool_.is_const(t, 0); }
  bool is_true(TermId t) const { return pool_.is_const(t, 1); }

 private:
  friend class DomainSteps;

  TermId made(TermId t);
  TermId operation(const Term& t, const std::vector<TermId>& args);
  TermId power(TermId base, TermId exponent);
  TermId exponential(TermId a);
  TermId logarithm(TermId a);
  TermId extremum(Op op, const std::vector<TermId>& args);
  TermId bounded(Op op, TermId t, Rational bound);
  TermId select(TermId condition, TermId a, TermId b);
  std::optional<TermId> as_maximum(TermId condition, TermId a, TermId b);
  TermId read(TermId t, std::vector<TermId> args);

  TermId division(Op op, TermId a, TermId b);
  TermId comparison(Op op, TermId a, TermId b);
  TermId at_least_zero(const Poly& p, bool strict);
  TermId equal_zero(const Poly& p, bool equal);
  Poly recombined(Poly p);
  std::optional<Poly> without_quotient(const Poly& p);
  TermId connected(Op op, const std::vector<TermId>& args);

  TermId reduction(const Term& t, const std::vector<TermId>& args);
  Poly sum_over(const Domain& domain, const Poly& body);
  Poly sum_of_monomial(Domain domain, TermId monomial);
  bool is_finite(const Factor& f);
  bool is_guarded_apart(const Poly& a, const Poly& b);
  int tie_to_empty_parts(const Domain& domain, const std::vector<Factor>& factors, std::vector<size_t>& part);
  Poly sum_of_parts(const Domain& domain, const std::vector<Factor>& factors);
  Poly sum_of_part(const Domain& domain, const std::vector<Factor>& factors);
  std::optional<Poly> merged_inner_sum(const Domain& domain, const std::vector<Factor>& factors);
  TermId extremum_over(Reducer reducer, const Domain& domain, TermId body);
  TermId made_extremum(Reducer reducer, Domain domain, TermId body);
  TermId extremum_of_monotone(Reducer reducer, const Domain& domain, TermId body);
  TermId extremum_of_power(Reducer reducer, const Domain& domain, TermId body);
  TermId extremum_of_dependent(Reducer reducer, const Domain& domain, const Poly& body);
  void absorb_mask(Reducer reducer, Domain& domain, Poly& body);
  Steps steps() const { return {enabled_.solve, enabled_.split_radix, enabled_.absorb}; }
  TermId at_one_point(Reducer reducer, const std::vector<TermId>& conditions, TermId body);
  TermId close(Reducer reducer, const Domain& domain, TermId body);

  Pool& pool_;
  Enabled enabled_;
  Signs signs_;
  Polynomials polys_;
  std::unordered_map<TermId, TermId> done_;
  std::map<std::tuple<Reducer, std::vector<int>, std::vector<TermId>, TermId>, TermId> extrema_;
};

TermId of_nothing(Pool& pool, Reducer reducer);  // the value of a reduction over no point

}  // namespace solstice::ir::normal
