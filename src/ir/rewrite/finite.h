// Which values are finite whatever finite values the inputs have: only those may be a factor of an empty sum or of padding.
#pragma once

#include <map>

#include "ir/rewrite/subject.h"

namespace solstice::ir {

class FiniteValues {
 public:
  FiniteValues(const Program& program, const Definitions& definitions) : program_(program), definitions_(definitions) {}
  // Proved; false: not known. Exponentials may overflow, divisors be 0, roots and logarithms leave their domain; results of
  // recurrences and opaque operations are not looked into.
  bool has(const ExprRef& e) { return of(e).finite; }

 private:
  enum class Sign { kUnknown, kNotPositive, kNotNegative, kPositive };  // kPositive: not below some positive literal
  struct Known {
    bool finite = false;
    Sign sign = Sign::kUnknown;  // any but kUnknown: not NaN
  };

  static bool not_negative(const Known& k) { return k.sign == Sign::kNotNegative || k.sign == Sign::kPositive; }
  static Known literal(double value);
  static Known either(const Known& a, const Known& b);
  static Known product(const ExprRef& e, const Known& a, const Known& b);
  static Known quotient(const ExprRef& e, const Known& a, const Known& b);
  static Known extremum(bool largest, const Known& a, const Known& b);
  static Known exponential(Op op, const Known& a);
  static Known root(Op op, const Known& a);
  static Known logarithm(Op op, const Known& a);
  static Known power(const ExprRef& e, const Known& a);
  static Known reduced(const Expr& e, const Known& body);
  Known of(const ExprRef& e);
  Known of_real(const ExprRef& e);
  static Known of_function(const ExprRef& e, const Known& a);
  Known of_tensor(int tensor);

  const Program& program_;
  const Definitions& definitions_;
  std::map<int, Known> known_;  // of tensors
};

}  // namespace solstice::ir
