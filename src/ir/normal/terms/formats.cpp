#include "ir/normal/terms/formats.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "ir/interpret/rounding.h"
#include "ir/normal/terms/range.h"

namespace solstice::ir::normal {
namespace {

// The largest integer up to which every one is in the format.
bool holds_integers(DType format, const ValueRange& range) {
  const auto most = static_cast<int64_t>(1 / unit_roundoff(format));
  return range.bounded() && range.low >= -most && range.high <= most;
}

bool holds_format(DType wide, DType narrow) {
  if (wide == narrow) return true;
  if (narrow == DType::kBool || is_integer(narrow)) {
    const IntegerRange range = integer_range(narrow);
    return holds_integers(wide, ValueRange::of(static_cast<Wide>(range.low), static_cast<Wide>(range.high)));
  }
  if (wide == DType::kF64) return true;
  if (wide == DType::kF32) return narrow != DType::kF64;
  return (wide == DType::kF16 || wide == DType::kBF16) && size_of(narrow) == 1;
}

bool holds_infinity(DType format) { return format != DType::kE4M3; }

bool holds_number(DType format, const Rational& number) {
  const bool dyadic = (number.den & (number.den - 1)) == 0 && std::abs(number.num) <= int64_t{1} << 53;
  return dyadic && rounded(format, number.value()) == number.value();
}

constexpr int kMostNested = 8;  // an argument may occur twice

bool holds(const Pool& pool, TermId id, DType format, int nested);

bool holds_op(const Pool& pool, const Term& t, DType format, int nested) {
  const auto held = [&](TermId a) { return holds(pool, a, format, nested); };
  switch (t.op) {
    case Op::kCast:
      return holds_format(format, t.dtype);
    case Op::kNeg:
    case Op::kAbs:
    case Op::kMin:
    case Op::kMax:
      return std::all_of(t.args.begin(), t.args.end(), held);
    case Op::kSelect:
      return held(t.args[1]) && held(t.args[2]);
    default:
      return false;
  }
}

bool holds(const Pool& pool, TermId id, DType format, int nested) {
  const Term& t = pool.at(id);
  if (nested == kMostNested) return false;
  if (t.value != ValueKind::kReal && holds_integers(format, range_of(pool, id))) return true;
  switch (t.kind) {
    case Kind::kConst:
      return holds_number(format, t.number);
    case Kind::kReal:
      return std::isinf(t.real) ? holds_infinity(format) : rounded(format, t.real) == t.real;
    case Kind::kRead: {
      const auto& stored = pool.symbol(t.id).stored;
      return stored && holds_format(format, *stored) && (!t.has_else || holds(pool, t.args.back(), format, nested + 1));
    }
    case Kind::kOp:
      return holds_op(pool, t, format, nested + 1);
    case Kind::kReduce:
      return (t.reducer == Reducer::kMax || t.reducer == Reducer::kMin) && holds_infinity(format) &&
             holds(pool, t.args[0], format, nested + 1);
    default:
      return false;
  }
}

}  // namespace

bool is_of_format(const Pool& pool, TermId t, DType format) { return holds(pool, t, format, 0); }

}  // namespace solstice::ir::normal
