#include "ir/normal/terms/sign.h"

#include <algorithm>
#include <cmath>

#include "ir/normal/terms/facts.h"

namespace solstice::ir::normal {

bool Signs::positive(TermId t) { return of(t) == Sign::kPositive && finite(t); }

bool Signs::nonnegative(TermId t) { return of(t) != Sign::kUnknown; }

Signs::Sign Signs::of(TermId t) {
  const auto known = known_.find(t);
  if (known != known_.end()) return known->second;
  const Sign out = found(t);
  known_.emplace(t, out);
  return out;
}

Signs::Sign Signs::found(TermId id) {
  const Term& t = pool_.at(id);
  switch (t.kind) {
    case Kind::kConst:
      return t.number.num > 0 ? Sign::kPositive : t.number.num == 0 ? Sign::kNonnegative : Sign::kUnknown;
    case Kind::kReal:
      return t.real > 0 && t.real < 1e300 ? Sign::kPositive : Sign::kUnknown;
    case Kind::kVar:
    case Kind::kGuard:
      return Sign::kNonnegative;
    case Kind::kRead:
      return of_read(t);
    case Kind::kOp:
      return of_op(t);
    case Kind::kReduce:
      return of_reduce(t);
    case Kind::kSum:
      return of_sum(t);
    case Kind::kProduct:
      return of_product(t);
  }
  return Sign::kUnknown;
}

Signs::Sign Signs::of_read(const Term& t) {
  const Sign own = t.value == ValueKind::kBool || pool_.symbol(t.id).not_negative ? Sign::kNonnegative : Sign::kUnknown;
  return t.has_else ? std::min(own, of(t.args.back())) : own;
}

Signs::Sign Signs::of_op(const Term& t) {
  const auto arg = [&](size_t i) { return of(t.args[i]); };
  if (t.value == ValueKind::kBool) return Sign::kNonnegative;
  switch (t.op) {
    case Op::kExp:
      return finite(t.args[0]) ? Sign::kPositive : Sign::kNonnegative;
    case Op::kAbs:
      return arg(0) == Sign::kPositive ? Sign::kPositive : Sign::kNonnegative;
    case Op::kMax: {
      Sign best = Sign::kUnknown;
      for (size_t i = 0; i < t.args.size(); ++i) best = std::max(best, arg(i));
      return best;
    }
    case Op::kMin: {
      Sign worst = Sign::kPositive;
      for (size_t i = 0; i < t.args.size(); ++i) worst = std::min(worst, arg(i));
      return worst;
    }
    case Op::kSelect:
      return std::min(arg(1), arg(2));
    default:
      return Sign::kUnknown;
  }
}

Signs::Sign Signs::of_reduce(const Term& t) {
  const bool adds = t.reducer == Reducer::kSum || t.reducer == Reducer::kProd;
  if (!adds && t.reducer != Reducer::kMax && t.reducer != Reducer::kMin)
    return t.value == ValueKind::kReal ? Sign::kUnknown : Sign::kNonnegative;
  const bool has_points = has_point(pool_, t.binders, {t.args.begin() + 1, t.args.end()});
  const Sign body = of(t.args[0]);
  if (t.reducer == Reducer::kProd) return body;
  if (!has_points) return adds && body != Sign::kUnknown ? Sign::kNonnegative : Sign::kUnknown;
  return body;
}

bool Signs::finite(TermId id) {
  const auto known = finite_.find(id);
  if (known != finite_.end()) return known->second;
  const Term& t = pool_.at(id);
  if (t.kind == Kind::kRead && !pool_.symbol(t.id).finite) return finite_[id] = false;
  if (t.kind == Kind::kOp && t.op == Op::kCast && pool_.is_integral(id)) return finite_[id] = true;  // or it stops
  bool out = t.kind == Kind::kReal ? std::isfinite(t.real)
                                   : std::all_of(t.args.begin(), t.args.end(), [&](TermId a) { return finite(a); });
  if (out && t.kind == Kind::kOp) out = finite_op(t);
  if (out && t.kind == Kind::kProduct) out = finite_product(t);
  if (out && t.kind == Kind::kReduce) {
    const bool of_nothing = t.reducer <= Reducer::kProd || t.reducer == Reducer::kAny || t.reducer == Reducer::kAll;
    const bool ranking = t.reducer == Reducer::kArgTop || t.reducer == Reducer::kArgBot;
    out = of_nothing || ranking || has_point(pool_, t.binders, {t.args.begin() + 1, t.args.end()});
  }
  finite_.emplace(id, out);
  return out;
}

bool Signs::finite_op(const Term& t) {
  switch (t.op) {
    case Op::kLog:
    case Op::kRsqrt:
      return positive(t.args[0]);
    case Op::kSqrt:
      return nonnegative(t.args[0]);
    case Op::kPow:
      return positive(t.args[0]);
    case Op::kDiv:
    case Op::kFmod:
    case Op::kRemainder:
    case Op::kFloorDivide:
      return positive(t.args[1]);
    case Op::kFloorDiv:
    case Op::kMod:
      return t.value != ValueKind::kReal || positive(t.args[1]);  // by 0 they stop
    case Op::kCast:
      return t.dtype == DType::kF64;  // others overflow
    default:
      return t.op != Op::kLog1p;
  }
}

bool Signs::finite_product(const Term& t) {
  for (size_t i = 0; i < t.args.size(); ++i) {
    const Rational e = t.weights[i];
    if (positive(t.args[i]) || (e.num > 0 && e.is_integer())) continue;
    if (e.num < 0 || !nonnegative(t.args[i])) return false;
  }
  return true;
}

Signs::Sign Signs::of_product(const Term& t) {
  Sign out = Sign::kPositive;
  for (size_t i = 0; i < t.args.size(); ++i) {
    const Rational e = t.weights[i];
    const bool even = e.is_integer() && e.num % 2 == 0;
    const Sign base = of(t.args[i]);
    if (base == Sign::kPositive) continue;
    if (!even && base == Sign::kUnknown && e.is_integer()) return Sign::kUnknown;
    out = Sign::kNonnegative;  // an even power, a root, or a nonnegative base
  }
  return out;
}

Signs::Sign Signs::of_sum(const Term& t) {
  Sign out = Sign::kNonnegative;
  for (size_t i = 0; i < t.args.size(); ++i) {
    const Sign s = of(t.args[i]);
    if (t.weights[i].num < 0 || s == Sign::kUnknown) return Sign::kUnknown;
    if (s == Sign::kPositive) out = Sign::kPositive;
  }
  return out;
}

}  // namespace solstice::ir::normal
