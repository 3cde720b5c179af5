#include "ir/rewrite/finite.h"

#include <algorithm>
#include <cmath>

#include "ir/equal.h"

namespace solstice::ir {

FiniteValues::Known FiniteValues::literal(double value) {
  if (!std::isfinite(value)) return {};
  return {true, value > 0 ? Sign::kPositive : value < 0 ? Sign::kNotPositive : Sign::kNotNegative};
}

FiniteValues::Known FiniteValues::either(const Known& a, const Known& b) {
  const Sign weaker = not_negative(a) && not_negative(b) ? Sign::kNotNegative : Sign::kUnknown;
  return {a.finite && b.finite, a.sign == b.sign ? a.sign : weaker};
}

// Sign of a product or quotient.
FiniteValues::Sign FiniteValues::of_both(const Known& a, const Known& b) const {
  if (reals_ && a.sign == Sign::kPositive && b.sign == Sign::kPositive) return Sign::kPositive;
  return not_negative(a) && not_negative(b) ? Sign::kNotNegative : Sign::kUnknown;
}

FiniteValues::Known FiniteValues::product(const ExprRef& e, const Known& a, const Known& b) const {
  if (!a.finite || !b.finite) return {};  // 0 * inf is NaN
  if (same(e->args[0], e->args[1])) return {true, Sign::kNotNegative};
  return {true, of_both(a, b)};
}

FiniteValues::Known FiniteValues::quotient(const ExprRef& e, const Known& a, const Known& b) const {
  const Expr& divisor = *e->args[1];
  const bool other_literal = (divisor.op == Op::kReal && std::isfinite(divisor.real) && divisor.real != 0) ||
                             (divisor.op == Op::kInt && divisor.integer != 0);
  if (!a.finite || (b.sign != Sign::kPositive && !other_literal)) return {};
  return {true, of_both(a, b)};
}

FiniteValues::Known FiniteValues::extremum(bool largest, const Known& a, const Known& b) {
  if (!a.finite || !b.finite) return {};
  if (!largest) return {true, either(a, b).sign};
  if (a.sign == Sign::kPositive || b.sign == Sign::kPositive) return {true, Sign::kPositive};
  return {true, not_negative(a) || not_negative(b) ? Sign::kNotNegative : Sign::kUnknown};
}

FiniteValues::Known FiniteValues::exponential(Op op, const Known& a) const {
  if (reals_) return {a.finite, a.finite && op == Op::kExp ? Sign::kPositive : Sign::kUnknown};
  const bool bounded = a.finite && a.sign == Sign::kNotPositive;
  return {bounded, a.finite && op == Op::kExp ? Sign::kNotNegative : Sign::kUnknown};
}

FiniteValues::Known FiniteValues::root(Op op, const Known& a) {
  if (op == Op::kRsqrt) return a.sign == Sign::kPositive ? Known{true, Sign::kNotNegative} : Known{};
  return not_negative(a) ? a : Known{};
}

FiniteValues::Known FiniteValues::logarithm(Op op, const Known& a) {
  if (op == Op::kLog) return {a.finite && a.sign == Sign::kPositive, Sign::kUnknown};
  return a.finite && not_negative(a) ? Known{true, Sign::kNotNegative} : Known{};
}

FiniteValues::Known FiniteValues::power(const ExprRef& e, const Known& a) {
  const Expr& exponent = *e->args[1];
  if (exponent.op != Op::kInt || exponent.integer < 0 || !a.finite) return {};
  return {true, exponent.integer % 2 == 0 ? Sign::kNotNegative : Sign::kUnknown};
}

// With a `where` there may be nothing to reduce: an extremum is infinite then, a mean NaN.
FiniteValues::Known FiniteValues::reduced(const Expr& e, const Known& body) const {
  const bool adds = e.reducer == Reducer::kSum || e.reducer == Reducer::kProd;
  if (!body.finite || (!adds && e.args.size() > 1)) return {};
  switch (e.reducer) {
    case Reducer::kSum:
    case Reducer::kProd:
      if (reals_ && e.args.size() == 1 && body.sign == Sign::kPositive) return body;
      return {true, not_negative(body) ? Sign::kNotNegative : Sign::kUnknown};
    case Reducer::kVar:
      return {true, Sign::kNotNegative};
    case Reducer::kMean:
    case Reducer::kMax:
    case Reducer::kMin:
      return body;
    default:
      return {true, Sign::kUnknown};
  }
}

// The only integers that are not finite are extrema that may be of nothing.
bool FiniteValues::has_extrema_of_something(const ExprRef& e) {
  bool out = true;
  walk(e, [&](const Expr& node) {
    if (node.kind == ValueKind::kReal) return;
    if (node.op == Op::kReduce && (node.reducer == Reducer::kMax || node.reducer == Reducer::kMin))
      out = out && node.args.size() < 2;
    if (node.op == Op::kRead) out = out && of_tensor(node.id).finite;
  });
  return out;
}

FiniteValues::Known FiniteValues::of(const ExprRef& e) {
  if (e->op == Op::kInt) return literal(static_cast<double>(e->integer));
  if (e->kind != ValueKind::kReal)
    return {has_extrema_of_something(e), e->op == Op::kIndex ? Sign::kNotNegative : Sign::kUnknown};
  return of_real(e);
}

FiniteValues::Known FiniteValues::of_real(const ExprRef& e) {
  const auto argument = [&](size_t i) { return of(e->args[i]); };
  switch (e->op) {
    case Op::kReal:
      return literal(e->real);
    case Op::kRead:
      return e->has_else ? either(of_tensor(e->id), of(e->args.back())) : of_tensor(e->id);
    case Op::kReduce:
      return reduced(*e, argument(0));
    case Op::kCast: {
      // Others overflow; of floats a sum is taken not to, nor what holds it.
      const bool wide = e->dtype == DType::kF64 || (!reals_ && (e->dtype == DType::kBF16 || size_of(e->dtype) >= 4));
      return {wide && argument(0).finite, Sign::kUnknown};
    }
    case Op::kSelect:
      return either(argument(1), argument(2));
    case Op::kAdd: {
      const Known a = argument(0), b = argument(1);
      const bool positive =
          not_negative(a) && not_negative(b) && (a.sign == Sign::kPositive || b.sign == Sign::kPositive);
      return {a.finite && b.finite, positive ? Sign::kPositive : either(a, b).sign};
    }
    case Op::kSub:
      return {argument(0).finite && argument(1).finite, Sign::kUnknown};
    case Op::kMul:
      return product(e, argument(0), argument(1));
    case Op::kDiv:
      return quotient(e, argument(0), argument(1));
    case Op::kMin:
    case Op::kMax:
      return extremum(e->op == Op::kMax, argument(0), argument(1));
    default:
      return e->args.empty() ? Known{} : of_function(e, argument(0));
  }
}

// Functions of one value, and powers.
FiniteValues::Known FiniteValues::of_function(const ExprRef& e, const Known& a) const {
  switch (e->op) {
    case Op::kExp:
    case Op::kExpm1:
      return exponential(e->op, a);
    case Op::kLog:
    case Op::kLog1p:
      return logarithm(e->op, a);
    case Op::kSqrt:
    case Op::kRsqrt:
      return root(e->op, a);
    case Op::kPow:
      return power(e, a);
    case Op::kAbs:
      return a.finite ? Known{true, Sign::kNotNegative} : Known{};
    case Op::kNeg:
      return {a.finite, not_negative(a) ? Sign::kNotPositive : Sign::kUnknown};
    case Op::kTanh:
    case Op::kErf:
    case Op::kSin:
    case Op::kCos:
    case Op::kSign:
    case Op::kFloor:
    case Op::kCeil:
    case Op::kRound:
    case Op::kTrunc:
      return {a.finite, Sign::kUnknown};
    default:
      return {};
  }
}

FiniteValues::Known FiniteValues::of_tensor(int tensor) {
  const auto found = known_.find(tensor);
  if (found != known_.end()) return found->second;
  const TensorKind kind = program_.tensor(tensor).kind;
  const bool given = kind == TensorKind::kParam || kind == TensorKind::kBuffer || kind == TensorKind::kInput ||
                     kind == TensorKind::kRandom;
  const std::vector<int>& writers = definitions_.writers(tensor);
  if (writers.empty()) return known_[tensor] = {given && !program_.tensor(tensor).any_value, Sign::kUnknown};
  // Its reads of itself are earlier: over the reals this is induction. Rounding errors may add up to anything.
  known_[tensor] = {reals_, Sign::kUnknown};
  open_.insert(tensor);
  Known out;
  for (size_t i = 0; i < writers.size(); ++i) {
    const Equation& equation = program_.equation(writers[i]);
    const Known piece = equation.group >= 0 && !reals_ ? Known{} : of(equation.rhs);
    out = i == 0 ? piece : either(out, piece);
  }
  open_.erase(tensor);
  if (!out.finite) {  // what was found by assuming otherwise
    std::erase_if(known_, [&](const auto& k) {
      return !open_.count(k.first) && (k.second.finite || k.second.sign != Sign::kUnknown);
    });
  }
  return known_[tensor] = out;
}

}  // namespace solstice::ir
