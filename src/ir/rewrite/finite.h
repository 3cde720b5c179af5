// Values that are finite whatever finite values the inputs have: only those may be a factor of an empty sum or of
// padding.
#pragma once

#include <map>
#include <set>

#include "ir/rewrite/subject.h"

namespace solstice::ir {

class FiniteValues {
 public:
  enum class Of {
    kFloats,  // exponentials may overflow, positive values underflow; recurrences are not looked into
    kReals,
  };
  FiniteValues(const Program& program, const Definitions& definitions, Of of = Of::kFloats)
      : program_(program), definitions_(definitions), reals_(of == Of::kReals) {}
  // Proved; false: not known. Divisors may be 0, roots and logarithms leave their domain; results of opaque operations
  // are not looked into.
  bool has(const ExprRef& e) { return of(e).finite; }
  bool has(int tensor) { return of_tensor(tensor).finite; }
  // Finite and at least 0.
  bool not_negative(int tensor) { return has(tensor) && not_negative(of_tensor(tensor)); }

 private:
  enum class Sign {
    kUnknown,
    kNotPositive,
    kNotNegative,
    kPositive
  };  // kPositive: of floats not below some positive literal
  struct Known {
    bool finite = false;
    Sign sign = Sign::kUnknown;  // any but kUnknown: not NaN
  };

  static bool not_negative(const Known& k) { return k.sign == Sign::kNotNegative || k.sign == Sign::kPositive; }
  static Known literal(double value);
  static Known either(const Known& a, const Known& b);
  Known product(const ExprRef& e, const Known& a, const Known& b) const;
  Known quotient(const ExprRef& e, const Known& a, const Known& b) const;
  Sign of_both(const Known& a, const Known& b) const;
  static Known extremum(bool largest, const Known& a, const Known& b);
  Known exponential(Op op, const Known& a) const;
  static Known root(Op op, const Known& a);
  static Known logarithm(Op op, const Known& a);
  static Known power(const ExprRef& e, const Known& a);
  Known reduced(const Expr& e, const Known& body) const;
  Known of(const ExprRef& e);
  Known of_real(const ExprRef& e);
  bool has_extrema_of_something(const ExprRef& e);
  Known of_function(const ExprRef& e, const Known& a) const;
  Known of_tensor(int tensor);

  const Program& program_;
  const Definitions& definitions_;
  const bool reals_;
  std::map<int, Known> known_;  // of tensors
  std::set<int> open_;          // of those, what is assumed until their equations have been looked at
};

}  // namespace solstice::ir
