// Integers are computed as doubles, which count exactly to 2^53: where an equation may go beyond, the interpreter
// looks, and stops with `not_yet` rather than go on with what is not exact.
#pragma once

#include <map>

#include "ir/program.h"

namespace solstice::ir {

inline constexpr double kExactIntegers = 9007199254740992.0;  // below, of either sign

// Is it a choice by integers that tensors hold, compared or clamped with a literal beyond 2^31 or with what is computed
// with one?
bool decides_on_large(const ExprRef& e);

class ExactIntegers {
 public:
  ExactIntegers(const Program& program, const Equation& equation) : program_(program), equation_(equation) {}

  // Is it an operation of integers whose operands or result may lie beyond?
  bool may_leave(const ExprRef& e);

 private:
  double most(const ExprRef& e);  // of the absolute value
  double found(const Expr& e);
  double of_reduction(const Expr& e);

  const Program& program_;
  const Equation& equation_;
  std::map<const Expr*, double> most_;
};

}  // namespace solstice::ir
