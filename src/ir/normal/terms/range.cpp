#include "ir/normal/terms/range.h"

#include <algorithm>

#include "base/integer.h"

namespace solstice::ir::normal {
namespace {

__extension__ typedef __int128 Wide;

int64_t limited(Wide v) { return static_cast<int64_t>(std::clamp<Wide>(v, -kUnbounded, kUnbounded)); }

ValueRange range_of_division(const Pool& pool, const Term& t) {
  const Term& divisor = pool.at(t.args[1]);
  if (divisor.kind != Kind::kConst || divisor.number.num <= 0) return {};
  const int64_t c = divisor.number.num;
  const ValueRange a = range_of(pool, t.args[0]);
  if (t.op == Op::kMod) return {0, c - 1};
  return {a.low <= -kUnbounded ? a.low : floor_div(a.low, c), a.high >= kUnbounded ? a.high : floor_div(a.high, c)};
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
  Wide low = 0, high = 0;
  for (size_t i = 0; i < t.args.size(); ++i) {
    const ValueRange r = range_of(pool, t.args[i]);
    const Wide w = t.weights[i].num;
    low += w * (w > 0 ? r.low : r.high);
    high += w * (w > 0 ? r.high : r.low);
  }
  return {limited(low), limited(high)};
}

}  // namespace solstice::ir::normal
