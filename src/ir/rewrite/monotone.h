// Monotone maps around an expression, taken off and put back.
#pragma once

#include <optional>
#include <vector>

#include "ir/rewrite/edit.h"
#include "ir/rewrite/subject.h"

namespace solstice::ir {

// A map around one operand, monotone on the whole line (rewrites/commute_monotone.cpp says which are).
struct MonotoneLayer {
  ExprRef node;
  size_t operand = 0;
  bool falls = false;
};

class MonotonePeeler {
 public:
  // The peeled functions are in `equation` and under `reduction`.
  MonotonePeeler(Equation& equation, const Definitions& definitions, const Expr& reduction)
      : equation_(equation), definitions_(definitions), binders_(reduction.binders.begin(), reduction.binders.end()) {}

  // Peels monotone maps off `e`, also those of its definition; what is left is the core.
  ExprRef peel(ExprRef e);
  // The maps around another core.
  ExprRef rebuilt(ExprRef core) const;
  bool falls() const;  // all of them together

  std::vector<MonotoneLayer> layers;  // outermost first

 private:
  bool fixed(const ExprRef& e) const { return !depends(e, binders_) && !has_infinity(e); }
  std::optional<MonotoneLayer> outermost(const ExprRef& e) const;

  Equation& equation_;
  const Definitions& definitions_;
  IndexSet binders_;
};

}  // namespace solstice::ir
