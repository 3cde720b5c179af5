#include "ir/normal/terms/range.h"

namespace solstice::ir::normal {
namespace {

ValueRange range_of_division(const Pool& pool, const Term& t) {
  const Term& divisor = pool.at(t.args[1]);
  if (divisor.kind != Kind::kConst || divisor.number.num <= 0) return {};
  const int64_t c = divisor.number.num;
  return t.op == Op::kMod ? ValueRange{0, c - 1} : range_of(pool, t.args[0]).quotient(c);
}

}  // namespace

ValueRange range_of(const Pool& pool, TermId id) {
  const Term& t = pool.at(id);
  if (t.kind == Kind::kConst && t.number.is_integer()) return {t.number.num, t.number.num};
  if (t.kind == Kind::kVar) return {0, pool.var(t.id).extent - 1};
  if (t.value == ValueKind::kBool || t.kind == Kind::kGuard) return {0, 1};
  if (t.kind == Kind::kOp && (t.op == Op::kFloorDiv || t.op == Op::kMod)) return range_of_division(pool, t);
  const bool position = t.kind == Kind::kReduce && (t.reducer == Reducer::kArgMax || t.reducer == Reducer::kArgMin ||
                                                    t.reducer == Reducer::kArgTop || t.reducer == Reducer::kArgBot);
  if (position) return {0, pool.var(t.binders[0]).extent - 1};
  if (t.kind != Kind::kSum || t.value == ValueKind::kReal) return {};
  ValueRange sum{0, 0};
  for (size_t i = 0; i < t.args.size(); ++i) {
    const int64_t weight = t.weights[i].num;
    sum = sum + ValueRange{weight, weight} * range_of(pool, t.args[i]);
  }
  return sum;
}

}  // namespace solstice::ir::normal
