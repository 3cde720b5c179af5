// The ranges of integer expressions, by intervals.
#include <algorithm>

#include "ir/integers/forms.h"
#include "ir/integers/integers.h"

namespace solstice::ir {
namespace {

ValueRange hull(ValueRange a, ValueRange b) { return {std::min(a.low, b.low), std::max(a.high, b.high)}; }

ValueRange product(ValueRange a, ValueRange b) {
  const int64_t corners[] = {scaled(a.low, b.low), scaled(a.low, b.high), scaled(a.high, b.low),
                             scaled(a.high, b.high)};
  return {*std::min_element(corners, corners + 4), *std::max_element(corners, corners + 4)};
}

ValueRange absolute(ValueRange a) {
  const int64_t most = std::max(std::abs(a.low), std::abs(a.high));
  return {a.low <= 0 && a.high >= 0 ? 0 : std::min(std::abs(a.low), std::abs(a.high)), most};
}

ValueRange power(ValueRange a, int64_t exponent) {
  if (exponent < 0) return {};
  const ValueRange of = exponent % 2 == 0 ? absolute(a) : a;
  ValueRange out{1, 1};
  for (int64_t i = 0; i < std::min<int64_t>(exponent, 64 + exponent % 2); ++i)
    out = {scaled(out.low, std::abs(of.low)), scaled(out.high, std::abs(of.high))};
  return {of.low < 0 ? -out.low : out.low, of.high < 0 ? -out.high : out.high};
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
      return product(of(0), of(1));
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
      if (e->op == Op::kMod) return {0, b.high - 1};
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
  int64_t points = 1;
  for (const int b : e->binders) points = scaled(points, std::max<int64_t>(0, indices_[static_cast<size_t>(b)].extent));
  const bool some = e->args.size() > 1;  // of the points
  return {scaled(some ? std::min<int64_t>(body.low, 0) : body.low, points),
          scaled(some ? std::max<int64_t>(body.high, 0) : body.high, points)};
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
      const ValueRange a = of(0), b = e->op == Op::kAdd ? of(1) : product(of(1), {-1, -1});
      return both({saturate(static_cast<Wide>(a.low) + b.low), saturate(static_cast<Wide>(a.high) + b.high)});
    }
    case Op::kMul:
      return both(product(of(0), of(1)));
    case Op::kMod:
      return e->args[1]->op == Op::kInt && e->args[1]->integer > 0 ? both({0, e->args[1]->integer - 1}) : known;
    default:
      return known;
  }
}

ValueRange Integers::interval(const Linear& form) const {
  if (form.overflow) return {};
  Wide low = form.constant;
  Wide high = form.constant;
  for (const auto& [v, c] : form.terms) {
    const ValueRange& r = variables_[static_cast<size_t>(v)].range;
    low += static_cast<Wide>(c) * (c > 0 ? r.low : r.high);
    high += static_cast<Wide>(c) * (c > 0 ? r.high : r.low);
  }
  return {saturate(low), saturate(high)};
}

}  // namespace solstice::ir
