#include "ir/interpret/exact.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ir/interpret/rounding.h"

namespace solstice::ir {
namespace {

constexpr double kNoBound = std::numeric_limits<double>::infinity();

double most_of(DType dtype) {
  const IntegerRange range = integer_range(dtype);
  return std::max(-range.low, range.high);
}

}  // namespace

bool decides_on_large(const ExprRef& e) {
  constexpr int64_t kLarge = int64_t{1} << 31;
  if (e->op == Op::kRead || e->args.empty() || e->args[0]->kind != ValueKind::kInt) return false;
  bool large = false, reads = false;
  walk(e, [&](const Expr& part) {
    large = large || (part.op == Op::kInt && (part.integer > kLarge || part.integer < -kLarge));
    reads = reads || (part.op == Op::kRead && part.kind == ValueKind::kInt);
  });
  return large && reads;
}

bool ExactIntegers::may_leave(const ExprRef& e) {
  const bool computes = e->op == Op::kAdd || e->op == Op::kSub || e->op == Op::kMul || e->op == Op::kPow ||
                        e->op == Op::kFloorDiv || e->op == Op::kMod;
  const bool compares = e->op >= Op::kLt && e->op <= Op::kGt;
  const bool adds = e->op == Op::kReduce && (e->reducer == Reducer::kSum || e->reducer == Reducer::kProd);
  if (compares)
    return std::all_of(e->args.begin(), e->args.end(), [&](const ExprRef& a) { return most(a) >= kExactIntegers; });
  if ((!computes && !adds) || e->kind != ValueKind::kInt) return false;
  if (most(e) >= kExactIntegers) return true;
  return computes &&
         std::any_of(e->args.begin(), e->args.end(), [&](const ExprRef& a) { return most(a) >= kExactIntegers; });
}

double ExactIntegers::most(const ExprRef& e) {
  if (e->kind == ValueKind::kReal) return 0;  // no integer
  const auto [known, made] = most_.try_emplace(e.get(), 0);
  if (!made) return known->second;
  const double out = e->kind == ValueKind::kBool ? 1 : found(*e);
  return most_[e.get()] = out;
}

double ExactIntegers::found(const Expr& e) {
  const auto arg = [&](size_t i) { return most(e.args[i]); };
  switch (e.op) {
    case Op::kInt:
      return std::abs(static_cast<double>(e.integer));
    case Op::kIndex:
      return static_cast<double>(equation_.indices[static_cast<size_t>(e.id)].extent);
    case Op::kRead:
      return std::max(most_of(program_.tensor(e.id).dtype.value_or(DType::kI64)), e.has_else ? most(e.args.back()) : 0);
    case Op::kCast:
      return most_of(e.dtype);
    case Op::kNeg:
    case Op::kAbs:
    case Op::kFloorDiv:
      return arg(0);
    case Op::kSign:
      return 1;
    case Op::kAdd:
    case Op::kSub:
      return arg(0) + arg(1);
    case Op::kMul:
      return arg(0) * arg(1);
    case Op::kMod:
      return arg(1);
    case Op::kBitAnd:
      return 2 * std::max(arg(0), arg(1));  // -5 and -4 have -8 in common
    case Op::kMin:
    case Op::kMax:
      return std::max(arg(0), arg(1));
    case Op::kSelect:
      return std::max(arg(1), arg(2));
    case Op::kReduce:
      return of_reduction(e);
    case Op::kRank:
      return static_cast<double>(equation_.indices[static_cast<size_t>(e.binders[0])].extent);
    default:
      return kNoBound;
  }
}

double ExactIntegers::of_reduction(const Expr& e) {
  double points = 1;
  for (const int b : e.binders) points *= static_cast<double>(equation_.indices[static_cast<size_t>(b)].extent);
  const double body = most(e.args[0]);
  switch (e.reducer) {
    case Reducer::kSum:
      return points * body;
    case Reducer::kProd:
      return body <= 1 ? 1 : kNoBound;
    case Reducer::kMax:
    case Reducer::kMin:
      return body;
    default:
      return points;  // a position
  }
}

}  // namespace solstice::ir
