// Prefix sums and products along one axis.
#include "ir/import/rules.h"

namespace solstice::ir::importer {
namespace {

// y[m,n] = R[j where j <= n](x[m,j])
Status prefix(Call& call, const char* reducer) {
  SOLSTICE_TRY(const Value x, call.tensor("self"));
  SOLSTICE_TRY(const DType dtype, call.out_dtype());
  if (x.rank() == 0) return call.yield(x);
  SOLSTICE_TRY(const int axis, call.axis("dim", x.rank()));
  Axes axes;
  for (const Axis& a : x.axes) axes.push_back(call.loops().align(a));
  Axes earlier = axes;
  earlier[static_cast<size_t>(axis)] = call.loops().align(x.axis(axis));
  const Axis& run = earlier[static_cast<size_t>(axis)];
  const TermRef before = binary("<=", index_value(call.loops().flat(run)), index_value(call.loops().flat(axes[static_cast<size_t>(axis)])));
  const TermRef element = read_at(x, flat_all(earlier, call.loops()), call.loops());
  return call.yield(call.draft().define(call.wish(), axes, reduce(reducer, run.digits, element, before), dtype));
}

Status cumsum(Call& call) { return prefix(call, "sum"); }
Status cumprod(Call& call) { return prefix(call, "prod"); }

}  // namespace

const RuleGroup kScanRules = {"scan", {{"aten.cumsum.default", cumsum}, {"aten.cumprod.default", cumprod}}};

}  // namespace solstice::ir::importer
