#include "ir/equivalence/masks.h"

#include <cmath>
#include <memory>

namespace solstice::ir {
namespace {

constexpr double kMask = 1e300;
constexpr double kLeastMask = 1e290;  // of one that was scaled or shifted

// An extremum of nothing is written, too.
ExprRef of_something(const ExprRef& e) {
  if (e->op != Op::kReduce || e->args.size() < 2 || e->kind != ValueKind::kReal) return e;
  if (e->reducer == Reducer::kMax || e->reducer == Reducer::kLogSumExp) return make(Op::kMax, {e, make_real(-kMask)});
  return e->reducer == Reducer::kMin ? make(Op::kMin, {e, make_real(kMask)}) : e;
}

ExprRef finite(const ExprRef& e) {
  if (e->op == Op::kReal && std::isinf(e->real)) return make_real(std::copysign(kMask, e->real));
  std::vector<ExprRef> args;
  bool changed = false;
  for (const ExprRef& a : e->args) {
    args.push_back(finite(a));
    changed = changed || args.back() != a;
  }
  if (!changed) return of_something(e);
  auto out = std::make_shared<Expr>(*e);
  out->args = std::move(args);
  return of_something(out);
}

}  // namespace

Program with_finite_masks(const Program& program) {
  Program out = program;
  for (Equation& e : out.equations) e.rhs = finite(e.rhs);
  return out;
}

void add_infinities(Compared& found, Tested tested, const TermsOf& masked) {
  if (found.infinite.empty()) return;
  const bool all = tested == Tested::kIntermediates;
  const std::vector<double> at = all ? std::vector<double>() : masked(found.infinite);
  for (size_t k = 0; k < found.infinite.size(); ++k) {
    const bool written = k < at.size() && std::isfinite(at[k]) && std::abs(at[k]) > kLeastMask;
    if (all || written) found.different.push_back(found.infinite[k]);
    if (!all && !written) ++found.unasked;
  }
}

}  // namespace solstice::ir
