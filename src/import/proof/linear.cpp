#include "import/proof/linear.h"

#include <algorithm>
#include <utility>

#include "base/integer.h"

namespace solstice::importer {
namespace {

using ir::ExprRef;
using ir::Op;

Linear constant(int64_t value) { return {value, {}}; }

ir::ValueRange range_of(const Linear& value, const std::vector<ir::Index>& indices) {
  if (value.overflow) return {};
  ir::ValueRange sum{value.constant, value.constant};
  for (const auto& [id, c] : value.terms)
    sum = sum + ir::ValueRange{c, c} * ir::ValueRange{0, indices[static_cast<size_t>(id)].extent - 1};
  return sum;
}

std::optional<Linear> product(const Linear& a, const Linear& b) {
  if (is_constant(a)) return plus({}, b, a.constant);
  if (is_constant(b)) return plus({}, a, b.constant);
  return std::nullopt;
}

std::optional<Linear> combined(Op op, const Linear& a, const Linear& b) {
  const bool numbers = is_constant(a) && is_constant(b);
  switch (op) {
    case Op::kAdd:
      return plus(a, b);
    case Op::kSub:
      return plus(a, b, -1);
    case Op::kMul:
      return product(a, b);
    case Op::kFloorDiv:
    case Op::kMod: {
      if (!numbers || b.constant <= 0) return std::nullopt;
      const int64_t quotient = solstice::floor_div(a.constant, b.constant);
      return constant(op == Op::kFloorDiv ? quotient : a.constant - quotient * b.constant);
    }
    default:
      return std::nullopt;
  }
}

// The part of `value` that `coefficient` divides, divided; the rest stays in `value`.
Linear take_digit(Linear& value, int64_t coefficient) {
  Linear out, rest;
  out.overflow = rest.overflow = value.overflow;
  out.constant = solstice::floor_div(value.constant, coefficient);
  rest.constant = value.constant - out.constant * coefficient;
  for (const auto& [id, c] : value.terms) {
    if (c % coefficient == 0)
      out.terms.emplace_back(id, c / coefficient);
    else
      rest.terms.emplace_back(id, c);
  }
  value = std::move(rest);
  return out;
}

}  // namespace

bool is_constant(const Linear& value) { return value.terms.empty() && !value.overflow; }

bool is_same(const Linear& a, const Linear& b) {
  const Linear difference = plus(a, b, -1);
  return is_constant(difference) && difference.constant == 0;
}

std::optional<Linear> linear_of(const ExprRef& e, const Binding& bound) {
  if (e->op == Op::kInt) return constant(e->integer);
  if (e->op == Op::kIndex) {
    const auto found = bound.find(e->id);
    return found == bound.end() ? std::nullopt : std::optional(found->second);
  }
  if (e->op != Op::kNeg && e->args.size() != 2) return std::nullopt;
  const auto first = e->args.empty() ? std::nullopt : linear_of(e->args[0], bound);
  if (!first) return std::nullopt;
  if (e->op == Op::kNeg) return plus({}, *first, -1);
  const auto second = linear_of(e->args[1], bound);
  const auto out = second ? combined(e->op, *first, *second) : std::nullopt;
  return out && out->overflow ? std::nullopt : out;
}

std::optional<double> number_of(const ExprRef& e, const Binding& bound) {
  if (e->op == Op::kReal) return e->real;
  if (e->op == Op::kInt || e->op == Op::kIndex) {
    const auto whole = linear_of(e, bound);
    return whole && is_constant(*whole) ? std::optional(static_cast<double>(whole->constant)) : std::nullopt;
  }
  const bool sum = e->op == Op::kAdd || e->op == Op::kSub;
  if (!sum && e->op != Op::kNeg && e->op != Op::kMul) return std::nullopt;
  const auto a = number_of(e->args[0], bound);
  if (!a || e->op == Op::kNeg) return a ? std::optional(-*a) : a;
  const auto b = number_of(e->args[1], bound);
  if (!b) return std::nullopt;
  return e->op == Op::kMul ? *a * *b : e->op == Op::kAdd ? *a + *b : *a - *b;
}

bool is_within(const Linear& value, const std::vector<ir::Index>& indices, int64_t low, int64_t high) {
  const ir::ValueRange range = range_of(value, indices);
  return range.low >= low && range.high <= high;
}

bool is_beyond(const Linear& value, const std::vector<ir::Index>& indices, int64_t low, int64_t high) {
  const ir::ValueRange range = range_of(value, indices);
  return range.high < low || range.low > high;
}

std::optional<Binding> solve(const ir::Equation& equation, const std::vector<Linear>& place,
                             const std::vector<ir::Index>& indices) {
  if (equation.lhs.size() != place.size()) return std::nullopt;
  Binding out;
  for (size_t d = 0; d < place.size(); ++d) {
    const auto form = ir::as_affine(equation.lhs[d]);
    if (!form) return std::nullopt;
    auto terms = form->terms;
    std::sort(terms.begin(), terms.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
    Linear rest = plus(place[d], constant(form->offset), -1);
    for (const auto& [id, coefficient] : terms) {
      if (coefficient <= 0) return std::nullopt;
      const Linear digit = take_digit(rest, coefficient);
      const int64_t extent = equation.indices[static_cast<size_t>(id)].extent;
      if (!is_within(digit, indices, 0, extent - 1)) return std::nullopt;
      if (const auto [known, is_new] = out.emplace(id, digit); !is_new && !is_same(known->second, digit))
        return std::nullopt;
    }
    if (!is_same(rest, {})) return std::nullopt;
  }
  for (const int id : equation.free) {
    if (!out.contains(id)) return std::nullopt;
  }
  return out;
}

}  // namespace solstice::importer
