// A term under a sum or mean, divided into what stays inside of that reduction and what comes out of it.
#pragma once

#include <vector>

#include "ir/rewrite/finite.h"
#include "ir/rewrite/terms.h"

namespace solstice::ir {

bool is_one(const ExprRef& e);  // the literal

class TermSplit {
 public:
  // Splits a term of `outer`'s body; `equation` has both. `finite` is read by the constructor alone.
  TermSplit(Equation& equation, const Expr& outer, const Term& term, FiniteValues& finite);

  // Values decide no condition or index, nothing may stop at run time or is an infinite literal: sums may be exchanged.
  bool admits() const;
  // Something comes out of the outer reduction.
  bool exchanges() const;

  std::vector<ExprRef> outside, inside;  // factors
  std::vector<ExprRef> outside_conditions, inside_conditions;
  std::vector<int> outside_binders, inner_binders;  // of the sum outside, and of the term's own first sum
  IndexSet inside_binders;
  std::vector<ExprRef> divisors;  // those that the outer reduction does not touch

 private:
  void read(const Term& term, const Expr& outer);
  void mark_plain(FiniteValues& finite);
  void choose(bool follow);
  void divide(const IndexSet& pulled);
  int widest_inner(const ExprRef& condition) const;
  bool useful() const;

  Equation& equation_;
  IndexSet binders_;  // of the outer reduction
  std::vector<ExprRef> conditions_, factors_;
  std::vector<bool> plain_;  // the factor may come out of a sum of nothing
  bool has_inner_sum_ = false;
};

}  // namespace solstice::ir
