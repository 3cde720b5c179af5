// The ranges of integer expressions, by intervals.
#include <algorithm>

#include "ir/integers/forms.h"
#include "ir/integers/integers.h"

namespace solstice::ir {
namespace {

ValueRange hull(ValueRange a, ValueRange b) { return {std::min(a.low, b.low), std::max(a.high, b.high)}; }

ValueRange absolute(ValueRange a) {
  const ValueRange negative = a * ValueRange{-1, -1};
  return {std::max<int64_t>(0, std::max(a.low, negative.low)), std::max(a.high, negative.high)};
}

// 0 <= a, or an odd exponent: the power grows with its base.
ValueRange power(ValueRange a, int64_t exponent) {
  if (exponent < 0) return {};
  const ValueRange of = exponent % 2 == 0 ? absolute(a) : a;
  const auto end = [&](int64_t base) {
    ValueRange out{1, 1};  // beyond 64 steps it is -1, 0, 1, or open
    for (int64_t i = 0; i < std::min<int64_t>(exponent, 64 + exponent % 2); ++i) out = out * ValueRange{base, base};
    return out;
  };
  return {of.has_low() ? end(of.low).low : of.low, of.has_high() ? end(of.high).high : of.high};
}

// What is not negative on one side bounds the result.
ValueRange common_bits(ValueRange a, ValueRange b) {
  if (a.low >= 0 && b.low >= 0) return {0, std::min(a.high, b.high)};
  if (a.low >= 0) return {0, a.high};
  return b.low >= 0 ? ValueRange{0, b.high} : ValueRange{};
}

}  // namespace

bool depends_on_tensors(const ExprRef& root) {
  bool found = false;
  walk(root, [&](const Expr& e) { found |= e.op == Op::kRead || e.op == Op::kRank || e.kind == ValueKind::kReal; });
  return found;
}

ValueRange Integers::atom_range(const ExprRef& e) {
  if (e->kind == ValueKind::kBool) return {0, 1};
  const bool position = e->op == Op::kReduce && (e->reducer == Reducer::kArgMax || e->reducer == Reducer::kArgMin);
  if (!e->binders.empty() && (e->op == Op::kRank || position)) {
    return {0, indices_[static_cast<size_t>(e->binders[0])].extent - 1};
  }
  const auto of = [&](size_t argument) { return interval(linear(e->args[argument])); };
  switch (e->op) {
    case Op::kSelect:
      return hull(of(1), of(2));
    case Op::kMul:
      return of(0) * of(1);
    case Op::kAbs:
      return absolute(of(0));
    case Op::kSign:
      return {-1, 1};
    case Op::kPow:
      return e->args[1]->op == Op::kInt ? power(of(0), e->args[1]->integer) : ValueRange{};
    case Op::kFloorDiv:
    case Op::kMod: {
      const ValueRange a = of(0), b = of(1);
      if (b.low < 1) return {};
      if (e->op == Op::kMod) return ValueRange::of(0, Wide{b.high} - 1);
      return {std::min<int64_t>(a.low, 0), std::max<int64_t>(a.high, 0)};
    }
    case Op::kBitAnd:
      return common_bits(of(0), of(1));
    case Op::kReduce:
      return reduction_range(e);
    case Op::kRead: {
      const auto range = values_(e->id);
      return range && !e->has_else ? *range : ValueRange{};
    }
    default:
      return {};
  }
}

ValueRange Integers::reduction_range(const ExprRef& e) {
  const ValueRange body = interval(linear(e->args[0]));
  if (e->reducer == Reducer::kMax || e->reducer == Reducer::kMin) return body;
  if (e->reducer != Reducer::kSum) return {};
  const ValueRange points = points_of(e->binders);
  const bool some = e->args.size() > 1;  // of the points
  return body * ValueRange{some ? 0 : points.low, points.high};
}

ValueRange Integers::range(const ExprRef& e) {
  const ValueRange known = interval(linear(e));
  const auto of = [&](size_t argument) { return range(e->args[argument]); };
  const auto both = [&](ValueRange shape) {
    return ValueRange{std::max(known.low, shape.low), std::min(known.high, shape.high)};
  };
  switch (e->op) {
    case Op::kAdd:
    case Op::kSub: {
      return both(of(0) + (e->op == Op::kAdd ? of(1) : of(1) * ValueRange{-1, -1}));
    }
    case Op::kMul:
      return both(of(0) * of(1));
    case Op::kMod:
      return e->args[1]->op == Op::kInt && e->args[1]->integer > 0 ? both({0, e->args[1]->integer - 1}) : known;
    default:
      return known;
  }
}

ValueRange Integers::interval(const Linear& form) const {
  if (form.overflow) return {};
  ValueRange sum{form.constant, form.constant};
  for (const auto& [v, c] : form.terms) sum = sum + ValueRange{c, c} * variables_[static_cast<size_t>(v)].range;
  return sum;
}

}  // namespace solstice::ir
