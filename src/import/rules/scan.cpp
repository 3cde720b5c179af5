// Running results along one axis: prefix sums and products, running extrema.
#include "import/call/conversion.h"
#include "import/rules.h"
#include "import/rules/index.h"

namespace solstice::importer {
namespace {

// y[m,n] = R[j where j <= n](x[m,j])
Result<Value> prefix_of(Call& call, const Value& x, int axis, const char* reducer) {
  SOLSTICE_TRY(const DType dtype, call.out_dtype());
  Axes axes;
  for (const Axis& a : x.axes) axes.push_back(call.loops().align(a));
  Axes earlier = axes;
  earlier[static_cast<size_t>(axis)] = call.loops().align(x.axis(axis));
  const Axis& run = earlier[static_cast<size_t>(axis)];
  const TermRef before = binary("<=", index_value(call.loops().flat(run)),
                                index_value(call.loops().flat(axes[static_cast<size_t>(axis)])));
  const TermRef element = converted(call, x, read_at(x, flat_all(earlier, call.loops()), call.loops()), dtype);
  return call.draft().define(call.wish(), axes, reduce(reducer_of(reducer, dtype), run.digits, element, before), dtype);
}

template <const char* R>
Status prefix(Call& call) {
  SOLSTICE_TRY(const Value x, call.tensor("self"));
  if (x.rank() == 0) return call.yield(x);
  SOLSTICE_TRY(const int axis, call.axis("dim", x.rank()));
  SOLSTICE_TRY(Value y, prefix_of(call, x, axis, R));
  return call.yield(std::move(y));
}
constexpr char kPrefixSum[] = "sum", kPrefixProd[] = "prod", kPrefixLogSumExp[] = "logsumexp", kRunningMax[] = "max",
               kRunningMin[] = "min", kRunningArgMax[] = "argmax", kRunningArgMin[] = "argmin";

// PyTorch takes the last of equal ones, and of several NaNs, so the row is walked backwards:
// i[m,n] = n - argmax[j where j <= n](x[m,n-j])
Value last_extremum(Call& call, const Value& x, int axis, const char* reducer) {
  Axes axes;
  for (int i = 0; i < x.rank(); ++i)
    axes.push_back(i == axis ? single(call, x.axis(i)) : call.loops().align(x.axis(i)));
  const Axis& here = axes[static_cast<size_t>(axis)];
  const Axis back = call.loops().align(here);
  const Index distance = call.loops().flat(back), from = call.loops().flat(here);
  Indices at = flat_all(axes, call.loops());
  at[static_cast<size_t>(axis)] = from + scale(distance, Size(-1));
  const TermRef element = as_stored(call, x, read_at(x, at, call.loops()));
  const TermRef steps = reduce(reducer, back.digits, element, binary("<=", index_value(distance), index_value(from)));
  return call.draft().define(reducer, axes, index_value(from) - steps, DType::kI64);
}

template <const char* R, const char* ArgR>
Status running(Call& call) {
  SOLSTICE_TRY(const Value x, call.tensor("self"));
  SOLSTICE_TRY(const int axis, call.axis("dim", x.rank()));
  if (x.rank() == 0 || x.extent(axis) == 1) {
    SOLSTICE_CHECK(call.yield(0, x));
    return call.yield(1, {x.axes, integer(0), DType::kI64});
  }
  SOLSTICE_TRY(Value y, prefix_of(call, x, axis, R));
  SOLSTICE_CHECK(call.yield(0, std::move(y)));
  return call.out_used(1) ? call.yield(1, last_extremum(call, x, axis, ArgR)) : success();
}

}  // namespace

const RuleGroup kScanRules = {
    "scan",
    {
        {"aten.cumsum.default", prefix<kPrefixSum>},
        {"aten.cumprod.default", prefix<kPrefixProd>},
        {"aten.logcumsumexp.default", prefix<kPrefixLogSumExp>},
        {"aten.cummax.default", running<kRunningMax, kRunningArgMax>},
        {"aten.cummin.default", running<kRunningMin, kRunningArgMin>},
    },
};

}  // namespace solstice::importer
