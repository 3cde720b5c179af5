#include "ir/integers/integers.h"

#include <algorithm>

#include "base/integer.h"
#include "ir/equal.h"
#include "ir/integers/forms.h"

namespace solstice::ir {

Integers::Integers(const std::vector<Index>& indices, Values values) : indices_(indices), values_(std::move(values)) {}

int Integers::index_variable(int id) {
  for (size_t v = 0; v < variables_.size(); ++v) {
    if (variables_[v].index == id) return static_cast<int>(v);
  }
  Variable variable;
  variable.index = id;
  variable.range = {0, indices_[static_cast<size_t>(id)].extent - 1};
  variables_.push_back(std::move(variable));
  return static_cast<int>(variables_.size()) - 1;
}

int Integers::variable_of(const ExprRef& e, ValueRange range, bool data) {
  for (size_t v = 0; v < variables_.size(); ++v) {
    if (variables_[v].atom && same(variables_[v].atom, e)) return static_cast<int>(v);
  }
  Variable variable;
  variable.atom = e;
  variable.range = range;
  variable.data = data;
  variables_.push_back(std::move(variable));
  return static_cast<int>(variables_.size()) - 1;
}

int Integers::quotient(const Linear& dividend, int64_t divisor) {
  for (size_t v = 0; v < variables_.size(); ++v) {
    const Variable& known = variables_[v];
    if (known.dividend && !dividend.overflow && known.divisor == divisor &&
        known.dividend->constant == dividend.constant && known.dividend->terms == dividend.terms) {
      return static_cast<int>(v);
    }
  }
  Variable variable;
  variable.dividend = dividend;
  variable.divisor = divisor;
  variable.data = depends_on_data(dividend);
  variable.range = interval(dividend).quotient(divisor);
  variables_.push_back(std::move(variable));
  const int id = static_cast<int>(variables_.size()) - 1;
  const Linear remainder = plus(dividend, variable_form(id), -divisor);
  facts_.push_back(remainder);
  facts_.push_back(plus(constant_form(divisor - 1), remainder, -1));
  return id;
}

Linear Integers::linear(const ExprRef& e) {
  switch (e->op) {
    case Op::kInt:
    case Op::kBool:
      return constant_form(e->integer);
    case Op::kIndex:
      return variable_form(index_variable(e->id));
    case Op::kNeg:
      return plus(constant_form(0), linear(e->args[0]), -1);
    case Op::kAdd:
      return plus(linear(e->args[0]), linear(e->args[1]));
    case Op::kSub:
      return plus(linear(e->args[0]), linear(e->args[1]), -1);
    case Op::kMul: {
      const Linear a = linear(e->args[0]);
      const Linear b = linear(e->args[1]);
      if (is_constant(a)) return plus(constant_form(0), b, a.constant);
      if (is_constant(b)) return plus(constant_form(0), a, b.constant);
      return atom(e);
    }
    case Op::kFloorDiv:
    case Op::kMod:
      return division(e);
    case Op::kMin:
    case Op::kMax:
      return extremum(e);
    default:
      return atom(e);
  }
}

Linear Integers::division(const ExprRef& e) {
  const Linear dividend = linear(e->args[0]);
  const Linear divisor = linear(e->args[1]);
  if (!is_constant(divisor) || divisor.constant <= 0) return atom(e);
  const int q = quotient(dividend, divisor.constant);
  return e->op == Op::kFloorDiv ? variable_form(q) : plus(dividend, variable_form(q), -divisor.constant);
}

Linear Integers::extremum(const ExprRef& e) {
  const Linear a = linear(e->args[0]);
  const Linear b = linear(e->args[1]);
  const ValueRange ra = interval(a);
  const ValueRange rb = interval(b);
  const bool least = e->op == Op::kMin;
  const ValueRange range = least ? ValueRange{std::min(ra.low, rb.low), std::min(ra.high, rb.high)}
                                 : ValueRange{std::max(ra.low, rb.low), std::max(ra.high, rb.high)};
  const size_t known = variables_.size();
  const int v = variable_of(e, range, !range.bounded() && depends_on_tensors(e));
  if (variables_.size() > known) {
    for (const Linear& side : {a, b})
      facts_.push_back(least ? plus(side, variable_form(v), -1) : plus(variable_form(v), side, -1));
  }
  return variable_form(v);
}

// Anything else is a variable of its own; what fixes its range is known, else it is data, or nothing bounds it.
Linear Integers::atom(const ExprRef& e) {
  const bool same_value =
      e->op == Op::kCast || e->op == Op::kFloor || e->op == Op::kCeil || e->op == Op::kRound || e->op == Op::kTrunc;
  if (same_value && e->kind == ValueKind::kInt && e->args[0]->kind != ValueKind::kReal) return linear(e->args[0]);
  const ValueRange range = atom_range(e);
  return variable_form(variable_of(e, range, !range.bounded() && depends_on_tensors(e)));
}

bool Integers::depends_on_data(const Linear& form) const {
  return std::any_of(form.terms.begin(), form.terms.end(),
                     [&](const auto& term) { return variables_[static_cast<size_t>(term.first)].data; });
}

}  // namespace solstice::ir
