#include "ir/integers/value_at.h"

#include <algorithm>

#include "base/integer.h"

namespace solstice::ir {
namespace {

std::optional<int64_t> arithmetic(Op op, int64_t a, int64_t b) {
  int64_t out = 0;
  switch (op) {
    case Op::kAdd:
      return __builtin_add_overflow(a, b, &out) ? std::nullopt : std::optional(out);
    case Op::kSub:
      return __builtin_sub_overflow(a, b, &out) ? std::nullopt : std::optional(out);
    case Op::kMul:
      return __builtin_mul_overflow(a, b, &out) ? std::nullopt : std::optional(out);
    case Op::kFloorDiv:
      return b > 0 ? std::optional(floor_div(a, b)) : std::nullopt;
    case Op::kMod:
      return b > 0 ? std::optional(a - b * floor_div(a, b)) : std::nullopt;
    case Op::kPow:
      return integer_power(a, b);
    case Op::kBitAnd:
      return a & b;
    case Op::kMin:
      return std::min(a, b);
    case Op::kMax:
      return std::max(a, b);
    case Op::kLt:
      return a < b;
    case Op::kLe:
      return a <= b;
    case Op::kEq:
      return a == b;
    case Op::kNe:
      return a != b;
    case Op::kGe:
      return a >= b;
    case Op::kGt:
      return a > b;
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<int64_t> value_at(const ExprRef& e, const std::vector<int64_t>& indices) {
  const auto of = [&](size_t argument) { return value_at(e->args[argument], indices); };
  if (e->op == Op::kInt || e->op == Op::kBool) return e->integer;
  if (e->op == Op::kIndex) return indices[static_cast<size_t>(e->id)];
  if (e->kind == ValueKind::kReal || e->op == Op::kRead || e->op == Op::kReduce || e->op == Op::kRank ||
      e->args.empty()) {
    return std::nullopt;
  }
  const auto a = of(0);
  if (!a) return std::nullopt;
  switch (e->op) {
    case Op::kSelect:
      return of(*a ? 1 : 2);
    case Op::kAnd:
      return *a ? of(1) : a;
    case Op::kOr:
      return *a ? a : of(1);
    case Op::kNot:
      return *a == 0;
    case Op::kNeg:
      return arithmetic(Op::kSub, 0, *a);
    case Op::kAbs:
      return *a < 0 ? arithmetic(Op::kSub, 0, *a) : a;
    case Op::kSign:
      return (*a > 0) - (*a < 0);
    default:
      break;
  }
  const auto b = e->args.size() == 2 ? of(1) : std::nullopt;
  return b ? arithmetic(e->op, *a, *b) : std::nullopt;
}

}  // namespace solstice::ir
