// Integers that the source wrote with dims (`N`, `N-1`), found again in what rewrites made of it.
#pragma once

#include <map>
#include <utility>

#include "ir/program.h"
#include "lang/tree.h"

namespace solstice::ir {

// By their place in the source: a bound integer has one if it was made of dims, and a number that a rewrite computed
// has none.
class WrittenDims {
 public:
  // `program` is `tree` bound.
  WrittenDims(const lang::Program& tree, const Program& program);
  // The expression, printed from a bound one, with the dims in place of the numbers.
  lang::ExprRef named(const lang::ExprRef& e) const;
  // Are all numbers of two expressions that are equal by value written alike, with the same dims or without?
  bool alike(const ExprRef& a, const ExprRef& b) const;

 private:
  void collect(const lang::Equation& equation);
  void collect(const lang::ExprRef& e);
  const lang::ExprRef* written(const Span& span) const;
  bool is_constant(const lang::Expr& e, bool& has_dim) const;

  const Program& program_;
  std::map<std::pair<int, int>, lang::ExprRef> written_;
};

}  // namespace solstice::ir
