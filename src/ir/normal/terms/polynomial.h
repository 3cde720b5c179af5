// Sums of products over hashed atoms, with rational weights and exponents.
//
// A power splits or merges only where that holds for every value: x**a * x**b is x**(a+b) if both exponents are
// positive integers, or both negative ones, or x is provably positive, or x is provably not negative and the exponents
// have one sign. Terms that cancel leave nothing only if they are provably finite: 1/z - 1/z is no 0, and stays with
// the weight 0; 2/z - 1/z is no 1/z, and has 0*(1/z) added. What does not fit into 64-bit fractions, or expands to
// more terms than the limit, stays an operation.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "ir/normal/terms/sign.h"

namespace solstice::ir::normal {

using Poly = std::map<TermId, Rational>;  // by monomial: a product, an atom or the constant 1

struct Factor {
  TermId base = 0;
  Rational exponent;
};

class Polynomials {
 public:
  Polynomials(Pool& pool, Signs& signs) : pool_(pool), signs_(signs), one_(pool.constant(1)) {}

  Poly constant(Rational value) const;
  Poly of(TermId t) const;
  TermId term(const Poly& p);
  Poly plus(const Poly& a, const Poly& b, Rational factor = {1, 1});
  Poly scaled(const Poly& p, Rational factor);
  Poly times(const Poly& a, const Poly& b);
  Poly power(const Poly& p, Rational exponent);

  std::vector<Factor> factors(TermId monomial) const;
  Poly from_factors(const std::vector<Factor>& factors);  // their product
  // The weight of the first term, by shape; 1 where several might come first.
  Rational leading(const Poly& p) const;
  TermId one() const { return one_; }

 private:
  Poly monomial_times(TermId a, TermId b);
  bool merges(TermId base, Rational a, Rational b);
  void insert(std::vector<Factor>& factors, Factor f);
  TermId divisor(TermId guard);
  Poly monomial_power(TermId monomial, Rational weight, Rational exponent);
  bool splits(const Factor& f, Rational exponent);
  Poly sum_power(const Poly& p, Rational exponent);
  Poly without_common_exponentials(const Poly& p, std::vector<Factor>& common);
  Poly atom(TermId t) const { return {{t, Rational{1, 1}}}; }
  Poly operation(Op op, const Poly& a, const Poly& b);
  Poly of_overflow(const Poly& a, const Poly& b, Rational factor);  // a + factor * b
  void nan_where_infinite(Poly& p, TermId t);

  Pool& pool_;
  Signs& signs_;
  TermId one_;
};

}  // namespace solstice::ir::normal
