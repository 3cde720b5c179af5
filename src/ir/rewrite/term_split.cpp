#include "ir/rewrite/term_split.h"

#include <algorithm>
#include <cmath>

#include "ir/analysis/stops.h"
#include "ir/condition.h"

namespace solstice::ir {
namespace {

bool is_plain(const ExprRef& e) { return e->op == Op::kRead || e->op == Op::kReal || e->op == Op::kInt; }

bool is_safe_divisor(const ExprRef& e) {
  if (e->op == Op::kNeg) return is_safe_divisor(e->args[0]);
  return e->op == Op::kInt ? e->integer != 0 : e->op == Op::kReal && std::isfinite(e->real) && e->real != 0;
}

}  // namespace

bool is_one(const ExprRef& e) { return e->op == Op::kInt && e->integer == 1 && e->id < 0; }

TermSplit::TermSplit(Equation& equation, const Expr& outer, const Term& term, FiniteValues& finite)
    : equation_(equation), binders_(outer.binders.begin(), outer.binders.end()) {
  read(term, outer);
  if (!admits()) return;
  mark_plain(finite);
  choose(true);
  if (!useful()) choose(false);
}

// Factors of the term and of the first sum among them. Divisors that the reduction does not touch stay outside; where
// it may have no point only literals, as its 0 may not become 0/0.
void TermSplit::read(const Term& term, const Expr& outer) {
  add_conjuncts(outer.args.size() > 1 ? outer.args[1] : nullptr, conditions_);
  for (const ExprRef& factor : term.factors) {
    if (is_one(factor)) continue;
    const bool sum =
        !has_inner_sum_ && factor->op == Op::kReduce && factor->reducer == Reducer::kSum && depends(factor, binders_);
    if (!sum) {
      factors_.push_back(factor);
      continue;
    }
    has_inner_sum_ = true;
    inner_binders = factor->binders;
    add_conjuncts(factor->args.size() > 1 ? factor->args[1] : nullptr, conditions_);
    const auto parts = terms_of(equation_, factor->args[0], nullptr, 1);
    if (parts && parts->size() == 1 && !(*parts)[0].negative && (*parts)[0].divisors.empty()) {
      factors_.insert(factors_.end(), (*parts)[0].factors.begin(), (*parts)[0].factors.end());
    } else {
      factors_.push_back(factor->args[0]);
    }
  }
  for (const ExprRef& divisor : term.divisors) {
    if (depends(divisor, binders_) || (outer.args.size() > 1 && !is_safe_divisor(divisor))) {
      factors_.push_back(make(Op::kDiv, {make_int(1), divisor}));
    } else {
      divisors.push_back(divisor);
    }
  }
}

void TermSplit::mark_plain(FiniteValues& finite) {
  for (const ExprRef& factor : factors_)
    plain_.push_back(conditions_.empty() || (is_plain(factor) && finite.has(factor)));
}

bool TermSplit::admits() const {
  for (const ExprRef& condition : conditions_) {
    if (has_read(condition)) return false;
  }
  const auto fine = [](const ExprRef& e) { return !can_stop(e) && !has_infinity(e); };
  return std::all_of(factors_.begin(), factors_.end(), fine);
}

// Terms outside of the new inner reduction: factors free of the outer's indices, and the indices they need. A
// condition that moves inside ties indices to the outer's (`u == 2*i+r-1`); with `follow` the factors that depend on
// the widest of them (`x[n,c,i,j]`) move with it, so that a condition is not left to stand for a factor.
void TermSplit::choose(bool follow) {
  IndexSet pulled = binders_;
  for (bool more = true; more;) {
    divide(pulled);
    more = false;
    for (const ExprRef& condition : inside_conditions) {
      const int widest = follow ? widest_inner(condition) : -1;
      more = more || (widest >= 0 && pulled.insert(widest).second);
    }
  }
}

int TermSplit::widest_inner(const ExprRef& condition) const {
  int out = -1;
  for (const int b : inner_binders) {
    if (!depends(condition, {b})) continue;
    if (out < 0 || index_of(equation_, b).extent > index_of(equation_, out).extent) out = b;
  }
  return out;
}

void TermSplit::divide(const IndexSet& pulled) {
  outside.clear();
  inside.clear();
  outside_conditions.clear();
  inside_conditions.clear();
  outside_binders.clear();
  IndexSet needed;
  const auto need = [&](const ExprRef& e) {
    const IndexSet own = indices_of(e);
    needed.insert(own.begin(), own.end());
  };
  for (size_t i = 0; i < factors_.size(); ++i) {
    const ExprRef& factor = factors_[i];
    const bool out = !depends(factor, pulled) && plain_[i];
    (out ? outside : inside).push_back(factor);
    if (out) need(factor);
  }
  for (const ExprRef& condition : conditions_) {
    const bool in = depends(condition, pulled) || outside.empty();
    (in ? inside_conditions : outside_conditions).push_back(condition);
    if (!in) need(condition);
  }
  inside_binders = binders_;
  for (const int b : inner_binders) {
    if (needed.count(b)) outside_binders.push_back(b);
    if (!needed.count(b)) inside_binders.insert(b);
  }
  if (!outside_binders.empty()) return;
  inside_conditions.insert(inside_conditions.end(), outside_conditions.begin(), outside_conditions.end());
  outside_conditions.clear();
}

// A factor came out, and what stays is more than a mask.
bool TermSplit::useful() const {
  return !outside.empty() && !outside_binders.empty() && (!inside.empty() || inside_conditions.empty());
}

bool TermSplit::exchanges() const {
  return useful() || (!has_inner_sum_ && (!outside.empty() || !divisors.empty() || inside.empty()));
}

}  // namespace solstice::ir
