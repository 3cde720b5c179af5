// A sum leaves out the terms that a mask of positions makes zero, where what is left needs no product of matrices.
//
//   sum[k](select(k == m, a[k], 0) * b[k,n])  =  a[m] * b[m,n]                      a diagonal matrix scales rows
//   sum[k](x[m,k] * select(k <= n, 1, 0))     =  sum[k where k <= n](x[m,k])        a triangle of ones adds prefixes
//
// Proof. A term with the factor 0 adds nothing, as its other factors are finite for every finite input (FiniteValues).
// The condition reads no tensor, so the same terms are left out for all inputs. An equality that gives a summed index
// its value, within its extent at every point, leaves one term of the sum over it. Of inequalities only prefixes are
// left out, whose terms do not depend on where the prefix ends: others remain products of matrices, for which a sum
// over a part is no help. Terms that may stop at run time stay.
//
// For other inputs it does not hold: 0 * NaN is NaN, and what is left out is a number. So NaN and infinities are not
// kept (docs/numerics.md, "Masked terms").
#include <fmt/format.h>

#include <algorithm>

#include "ir/analysis/stops.h"
#include "ir/condition.h"
#include "ir/equal.h"
#include "ir/rewrite/edit.h"
#include "ir/rewrite/finite.h"
#include "ir/rewrite/merge.h"
#include "ir/rewrite/rewrite.h"
#include "ir/rewrite/term_split.h"
#include "ir/substitute.h"

namespace solstice::ir {
namespace {

// A factor that is `value` where a condition that reads nothing holds (or, `negated`, where it does not), and else 0.
struct MaskedFactor {
  ExprRef condition, value;
  bool negated = false;
};

std::optional<MaskedFactor> masked_factor(const ExprRef& e) {
  if (e->kind == ValueKind::kBool && !has_read(e)) return MaskedFactor{e, make_int(1), false};
  if (e->op != Op::kSelect || has_read(e->args[0])) return std::nullopt;
  const bool unequal = e->args[0]->op == Op::kNe;
  const ExprRef condition = unequal ? make(Op::kEq, e->args[0]->args) : e->args[0];
  if (is_zero(e->args[2])) return MaskedFactor{condition, e->args[1], unequal};
  if (is_zero(e->args[1])) return MaskedFactor{condition, e->args[2], !unequal};
  return std::nullopt;
}

void add_factors(const ExprRef& e, std::vector<ExprRef>& out) {
  if (e->op != Op::kMul) return out.push_back(e);
  for (const ExprRef& arg : e->args) add_factors(arg, out);
}

Affine opposite(const Affine& form) {
  Affine out{-form.offset, {}};
  for (const auto& [id, coefficient] : form.terms) out.terms.emplace_back(id, -coefficient);
  return out;
}

bool stays_within(const Equation& equation, const Affine& form, int64_t extent) {
  int64_t low = form.offset, high = form.offset;
  for (const auto& [id, coefficient] : form.terms) {
    const int64_t reach = coefficient * (index_of(equation, id).extent - 1);
    (reach < 0 ? low : high) += reach;
  }
  return low >= 0 && high < extent;
}

// A sum of products without the terms in which one masked factor is zero.
class MaskedSum {
 public:
  MaskedSum(const Subject& subject, Equation& equation, const ExprRef& sum)
      : subject_(subject), equation_(equation), sum_(sum), finite_(subject.program(), subject.definitions()) {
    add_factors(sum->args[0], factors_);
  }

  // Null: no factor is such a mask.
  ExprRef rest() {
    if (factors_.size() < 2 || can_stop(sum_->args[0])) return nullptr;
    for (size_t i = 0; i < factors_.size(); ++i) {
      const std::optional<MaskedFactor> mask = masked_factor(definition_of(factors_[i]));
      if (!mask || !others_are_finite(i)) continue;
      for (const int binder : sum_->binders) {
        if (ExprRef found = without_zeros_of(*mask, i, binder)) return found;
      }
    }
    return nullptr;
  }

 private:
  ExprRef definition_of(const ExprRef& factor) {
    const Equation* definition =
        factor->op == Op::kRead && !factor->has_else ? subject_.definitions().of(factor->id) : nullptr;
    return definition && masked_factor(definition->rhs) ? instance(equation_, *definition, *factor) : factor;
  }

  bool others_are_finite(size_t masked) {
    for (size_t i = 0; i < factors_.size(); ++i) {
      if (i != masked && !finite_.has(factors_[i])) return false;
    }
    return true;
  }

  // The product of all factors, with the mask's value in its place.
  ExprRef unmasked(const MaskedFactor& mask, size_t place) const {
    std::vector<ExprRef> factors = factors_;
    factors[place] = mask.value;
    if (is_one(mask.value)) factors.erase(factors.begin() + static_cast<std::ptrdiff_t>(place));
    return product(factors);
  }

  ExprRef without_zeros_of(const MaskedFactor& mask, size_t place, int binder) const {
    const std::optional<IndexBound> bound = bound_on(mask.condition, mask.negated, binder);
    if (!bound || (bound->last != 1 && bound->last != -1)) return nullptr;
    // last * binder + rest is 0, or at least 0.
    const Affine end = bound->last > 0 ? opposite(bound->rest) : bound->rest;
    const ExprRef body = unmasked(mask, place);
    return bound->equal ? at_one_point(body, binder, end)
                        : prefix(body, binder, bound->last > 0 ? Op::kGe : Op::kLe, end);
  }

  ExprRef at_one_point(const ExprRef& body, int binder, const Affine& value) const {
    if (!stays_within(equation_, value, index_of(equation_, binder).extent)) return nullptr;
    std::vector<int> binders = sum_->binders;
    binders.erase(std::find(binders.begin(), binders.end(), binder));
    const ExprRef alone = substitute(body, {{binder, to_expr(value)}});
    return binders.empty() ? alone : make_reduce(Reducer::kSum, binders, alone);
  }

  // `end` is an index of the same extent, or one more or less; terms do not depend on it.
  ExprRef prefix(const ExprRef& body, int binder, Op op, const Affine& end) const {
    const bool single = sum_->binders.size() == 1 && end.terms.size() == 1 && end.terms.front().second == 1;
    if (!single || end.offset < -1 || end.offset > 1) return nullptr;
    const int index = end.terms.front().first;
    const bool alike = index_of(equation_, index).extent == index_of(equation_, binder).extent;
    if (!alike || depends(body, {index})) return nullptr;
    return make_reduce(Reducer::kSum, {binder}, body, make(op, {make_index(binder), to_expr(end)}));
  }

  const Subject& subject_;
  Equation& equation_;
  const ExprRef sum_;
  FiniteValues finite_;
  std::vector<ExprRef> factors_;
};

bool is_plain_sum(const Expr& e) {
  return e.op == Op::kReduce && e.reducer == Reducer::kSum && e.kind == ValueKind::kReal && e.args.size() == 1;
}

std::optional<Rewritten> without_zeros(const Subject& subject, int id) {
  const Program& program = subject.program();
  if (program.equation(id).group >= 0) return std::nullopt;
  for (const ExprRef& sum : reductions_in(program.equation(id).rhs, is_plain_sum)) {
    Equation equation = program.equation(id);
    const ExprRef rest = MaskedSum(subject, equation, sum).rest();
    if (!rest) continue;
    equation.rhs = replaced(equation.rhs, sum.get(), rest);
    Rewritten out{program, fmt::format("the sum over {} in `{}` leaves out the zeros of a mask",
                                       names_of(equation, sum->binders), program.target_of(equation).name)};
    out.program.equations[static_cast<size_t>(id)] = std::move(equation);
    return out;
  }
  return std::nullopt;
}

}  // namespace

extern const Rewrite solstice_rewrites_leave_out_zeros;
const Rewrite solstice_rewrites_leave_out_zeros = {
    .name = "leave_out_zeros",
    .help =
        "a sum leaves out what a mask of positions makes zero: a diagonal matrix scales, a triangle of ones adds up",
    .at = without_zeros,
};

}  // namespace solstice::ir
