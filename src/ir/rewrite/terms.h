// An expression as a sum of products.
#pragma once

#include <vector>

#include "ir/program.h"
#include "ir/rewrite/edit.h"
#include "ir/rewrite/subject.h"

namespace solstice::ir {

// +- factors / divisors.
struct Term {
  bool negative = false;
  std::vector<ExprRef> factors;
  std::vector<ExprRef> divisors;
};

// `e` of `equation` as terms: sums, differences, and products of one factor with a sum multiplied out. Reads whose
// definition is a sum, a product or a reduction by addition stand for it where `definitions` is given. Nothing if there
// are more than `most`.
std::optional<std::vector<Term>> terms_of(Equation& equation, const ExprRef& e, const Definitions* definitions,
                                          size_t most = 12);

ExprRef to_expr(const Term& term);
ExprRef sum_of(const std::vector<Term>& terms);  // of none: 0

}  // namespace solstice::ir
