#include "ir/condition.h"

#include <algorithm>

#include "base/integer.h"

namespace solstice::ir {
namespace {

std::optional<Op> comparison(const Expr& e, bool negated) {
  switch (e.op) {
    case Op::kLt:
      return negated ? Op::kGe : Op::kLt;
    case Op::kLe:
      return negated ? Op::kGt : Op::kLe;
    case Op::kGe:
      return negated ? Op::kLt : Op::kGe;
    case Op::kGt:
      return negated ? Op::kLe : Op::kGt;
    case Op::kEq:
      return negated ? std::nullopt : std::optional(Op::kEq);
    default:
      return std::nullopt;
  }
}

int64_t value_at(const Affine& a, const std::vector<int64_t>& point) {
  int64_t sum = a.offset;
  for (const auto& [index, coefficient] : a.terms) sum += coefficient * point[static_cast<size_t>(index)];
  return sum;
}

}  // namespace

bool has_read(const ExprRef& e) {
  bool found = false;
  walk(e, [&](const Expr& node) { found = found || node.op == Op::kRead; });
  return found;
}

int64_t value_of(const Expr& e, const std::vector<int64_t>& at) {
  const auto arg = [&](size_t i) { return value_of(*e.args[i], at); };
  switch (e.op) {
    case Op::kInt:
    case Op::kBool:
      return e.integer;
    case Op::kReal:
      return static_cast<int64_t>(e.real);
    case Op::kIndex:
      return at[static_cast<size_t>(e.id)];
    case Op::kNeg:
      return -arg(0);
    case Op::kNot:
      return !arg(0);
    case Op::kAnd:
      return arg(0) && arg(1);
    case Op::kOr:
      return arg(0) || arg(1);
    case Op::kAdd:
      return arg(0) + arg(1);
    case Op::kSub:
      return arg(0) - arg(1);
    case Op::kMul:
      return arg(0) * arg(1);
    case Op::kFloorDiv:
    case Op::kMod: {
      const int64_t a = arg(0), b = arg(1);
      const int64_t quotient = b == 0 ? 0 : floor_div(a, b);  // by 0: the program stops
      return e.op == Op::kMod ? a - b * quotient : quotient;
    }
    case Op::kMin:
      return std::min(arg(0), arg(1));
    case Op::kMax:
      return std::max(arg(0), arg(1));
    case Op::kSelect:
      return arg(0) ? arg(1) : arg(2);
    case Op::kLt:
      return arg(0) < arg(1);
    case Op::kLe:
      return arg(0) <= arg(1);
    case Op::kEq:
      return arg(0) == arg(1);
    case Op::kNe:
      return arg(0) != arg(1);
    case Op::kGe:
      return arg(0) >= arg(1);
    case Op::kGt:
      return arg(0) > arg(1);
    default:
      return 0;
  }
}

std::optional<IndexBound> bound_on(const ExprRef& condition, bool negated, int last) {
  const std::optional<Op> op = comparison(*condition, negated);
  if (!op) return std::nullopt;
  const bool flip = *op == Op::kLt || *op == Op::kLe;  // b - a >= 0
  const auto difference = as_affine(make(Op::kSub, {condition->args[flip ? 1 : 0], condition->args[flip ? 0 : 1]}));
  if (!difference) return std::nullopt;
  IndexBound out;
  out.last = difference->coefficient(last);
  out.equal = *op == Op::kEq;
  out.rest.offset = difference->offset - (*op == Op::kLt || *op == Op::kGt ? 1 : 0);
  for (const auto& term : difference->terms) {
    if (term.first != last) out.rest.terms.push_back(term);
  }
  return out;
}

void IndexRange::meet(const IndexBound& c, const std::vector<int64_t>& point) { meet(c, value_at(c.rest, point)); }

void IndexRange::meet(const IndexBound& c, int64_t rest) {
  if (c.last == 0) {
    if (c.equal ? rest != 0 : rest < 0) high = low - 1;
  } else if (c.equal) {
    if (rest % c.last != 0) high = low - 1;
    low = std::max(low, -rest / c.last);
    high = std::min(high, -rest / c.last);
  } else if (c.last > 0) {
    low = std::max(low, -floor_div(rest, c.last));
  } else {
    high = std::min(high, floor_div(rest, -c.last));
  }
}

}  // namespace solstice::ir
