#include "ir/count/op_cost.h"

#include <cmath>

namespace solstice::ir {
namespace {

// A whole power is multiplications; any other is exp2(y * log2(x)).
OpCost power_cost(const Expr& e) {
  const Expr& exponent = *e.args[1];
  const double value = exponent.op == Op::kInt ? static_cast<double>(exponent.integer) : exponent.real;
  const bool literal = exponent.op == Op::kInt || exponent.op == Op::kReal;
  if (literal && value == std::floor(value) && std::abs(value) >= 1 && std::abs(value) <= 64) {
    return {std::ceil(std::log2(std::abs(value))), value < 0 ? 1.0 : 0.0};
  }
  if (literal && std::abs(value) == 0.5) return {0, 1};
  return {1, 2};
}

}  // namespace

// Negation and absolute value are operand modifiers; erf is a polynomial and an exponential.
OpCost cost_of(const Expr& e) {
  switch (e.op) {
    case Op::kAdd:
    case Op::kSub:
    case Op::kMul:
    case Op::kMin:
    case Op::kMax:
    case Op::kSelect:
    case Op::kLt:
    case Op::kLe:
    case Op::kEq:
    case Op::kNe:
    case Op::kGe:
    case Op::kGt:
    case Op::kFloor:
    case Op::kCeil:
    case Op::kRound:
    case Op::kTrunc:
    case Op::kSign:
    case Op::kIsNan:
    case Op::kIsFinite:
    case Op::kCast:
      return {1, 0};
    case Op::kDiv:
      return {1, 0};  // by a reciprocal
    case Op::kFmod:
    case Op::kRemainder:
    case Op::kFloorDivide:
      return {3, 0};  // the least: a quotient, its whole part and the difference
    case Op::kExp:
    case Op::kLog:
      return {1, 1};
    case Op::kExpm1:
    case Op::kLog1p:
    case Op::kSin:
    case Op::kCos:
      return {2, 1};
    case Op::kSqrt:
    case Op::kRsqrt:
    case Op::kTanh:
      return {0, 1};
    case Op::kErf:
      return {6, 1};
    case Op::kAtan2:
      return {14, 1};
    case Op::kErfInv:
      return {12, 2};
    case Op::kLgamma:
      return {30, 3};
    case Op::kBitAnd:
      return {1, 0};
    case Op::kPow:
      return power_cost(e);
    default:
      return {0, 0};
  }
}

}  // namespace solstice::ir
