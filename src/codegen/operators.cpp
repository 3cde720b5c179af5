#include "codegen/operators.h"

#include <algorithm>
#include <cmath>

namespace solstice::codegen {

using ir::Op;

const char* function_of(Op op) {
  switch (op) {
    case Op::kExp:
      return "exponential";
    case Op::kExpm1:
      return "math::expm1";
    case Op::kLog:
      return "math::log";
    case Op::kLog1p:
      return "math::log1p";
    case Op::kSqrt:
      return "math::sqrt";
    case Op::kRsqrt:
      return "math::rsqrt";
    case Op::kTanh:
      return "math::tanh";
    case Op::kErf:
      return "math::erf";
    case Op::kSin:
      return "math::sin";
    case Op::kCos:
      return "math::cos";
    case Op::kErfInv:
      return "math::inverse_erf";
    case Op::kLgamma:
      return "math::log_gamma";
    case Op::kFloor:
      return "math::floor";
    case Op::kCeil:
      return "math::ceil";
    case Op::kRound:
      return "math::round";
    case Op::kTrunc:
      return "math::trunc";
    default:
      return nullptr;
  }
}

const char* short_function_of(Op op) {
  switch (op) {
    case Op::kExp:
      return "short_exponential";
    case Op::kSqrt:
      return "short_sqrt";
    case Op::kTanh:
      return "short_tanh";
    default:
      return nullptr;
  }
}

const char* symbol_of(Op op) {
  switch (op) {
    case Op::kAdd:
      return "+";
    case Op::kSub:
      return "-";
    case Op::kMul:
      return "*";
    case Op::kLt:
      return "<";
    case Op::kLe:
      return "<=";
    case Op::kEq:
      return "==";
    case Op::kNe:
      return "!=";
    case Op::kGe:
      return ">=";
    case Op::kGt:
      return ">";
    case Op::kBitAnd:
      return "&";
    case Op::kAnd:
      return "&&";
    case Op::kOr:
      return "||";
    default:
      return nullptr;
  }
}

const char* wrapped_function_of(Op op) {
  switch (op) {
    case Op::kAdd:
      return "wrapped_sum";
    case Op::kSub:
      return "wrapped_difference";
    case Op::kMul:
      return "wrapped_product";
    default:
      return nullptr;
  }
}

bool is_comparison(Op op) { return op >= Op::kLt && op <= Op::kGt; }
bool is_rounding(Op op) { return op >= Op::kFloor && op <= Op::kTrunc; }

std::optional<double> fold(Op op, const Value& a, const Value& b) {
  const auto x = constant_of(a), y = constant_of(b);
  if (!x || !y) return std::nullopt;
  switch (op) {
    case Op::kAdd:
      return *x + *y;
    case Op::kSub:
      return *x - *y;
    case Op::kMul:
      return *x * *y;
    case Op::kDiv:
      return *x / *y;
    case Op::kPow:
      return std::pow(*x, *y);
    case Op::kMin:
      return std::min(*x, *y);
    case Op::kMax:
      return std::max(*x, *y);
    default:
      return std::nullopt;
  }
}

std::optional<double> fold(Op op, const Value& a) {
  const auto x = constant_of(a);
  if (!x) return std::nullopt;
  switch (op) {
    case Op::kAbs:
      return std::abs(*x);
    case Op::kExp:
      return std::exp(*x);
    case Op::kExpm1:
      return std::expm1(*x);
    case Op::kLog:
      return std::log(*x);
    case Op::kLog1p:
      return std::log1p(*x);
    case Op::kSqrt:
      return std::sqrt(*x);
    case Op::kRsqrt:
      return 1 / std::sqrt(*x);
    case Op::kTanh:
      return std::tanh(*x);
    case Op::kErf:
      return std::erf(*x);
    case Op::kSin:
      return std::sin(*x);
    case Op::kCos:
      return std::cos(*x);
    default:
      return std::nullopt;
  }
}

Interval integer_range(Op op, Interval a, Interval b) {
  switch (op) {
    case Op::kAdd:
      return a + b;
    case Op::kSub:
      return a - b;
    case Op::kMul:
      return a * b;
    case Op::kBitAnd:
      return a.lo < 0 && b.lo < 0 ? Interval{}
             : a.lo < 0           ? Interval{0, b.hi}
             : b.lo < 0           ? Interval{0, a.hi}
                                  : Interval{0, std::min(a.hi, b.hi)};
    case Op::kMin:
      return {std::min(a.lo, b.lo), std::min(a.hi, b.hi)};
    case Op::kMax:
      return {std::max(a.lo, b.lo), std::max(a.hi, b.hi)};
    default:
      return {0, 1};
  }
}

}  // namespace solstice::codegen
