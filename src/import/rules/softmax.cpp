// Softmax and its logarithm along one axis.
#include "import/rules.h"

namespace solstice::importer {
namespace {

struct Rows {
  DType dtype = DType::kF32;
  Axes axes;
  TermRef element;        // x at the equation's own indices
  std::vector<Loop> row;  // a second run along the axis
  TermRef row_element;    // x along it
};

Result<Rows> read_rows(Call& call, const Value& x) {
  Rows out;
  SOLSTICE_TRY(out.dtype, call.out_dtype());
  SOLSTICE_TRY(const int axis, call.axis("dim", x.rank()));
  for (const Axis& a : x.axes) out.axes.push_back(call.loops().align(a));
  out.element = read_at(x, flat_all(out.axes, call.loops()), call.loops());
  out.row_element = out.element;
  if (x.rank() == 0) return out;
  Axes along = out.axes;
  along[static_cast<size_t>(axis)] = call.loops().align(x.axis(axis));
  out.row = along[static_cast<size_t>(axis)].digits;
  out.row_element = read_at(x, flat_all(along, call.loops()), call.loops());
  return out;
}

// e[m,n] = exp(x[m,n] - max[n](x[m,n])); y[m,n] = e[m,n] / sum[n](e[m,n]). A row of -inf alone gives NaN.
Status softmax_of(Call& call, const Value& x) {
  SOLSTICE_TRY(const Rows shift, read_rows(call, x));
  const TermRef shifted = apply("exp", {shift.element - reduce("max", shift.row, shift.row_element)});
  const Value e = call.draft().define("ex", shift.axes, shifted, shift.dtype);
  SOLSTICE_TRY(const Rows rows, read_rows(call, e));
  const TermRef y = rows.element / reduce("sum", rows.row, rows.row_element);
  return call.yield(call.draft().define(call.wish(), rows.axes, y, rows.dtype));
}

Status softmax(Call& call) {
  SOLSTICE_TRY(const Value x, call.tensor("self"));
  return softmax_of(call, x);
}

Status softmin(Call& call) {
  SOLSTICE_TRY(const Value x, call.tensor("self"));
  SOLSTICE_TRY(const Value y, pointwise(call, {x}, x.dtype, [](const auto& t) { return negate(t[0]); }));
  return softmax_of(call, y);
}

// sh[m,n] = x[m,n] - max[n](x[m,n]); y[m,n] = sh[m,n] - log(sum[n](exp(sh[m,n]))). Not x - logsumexp(x): that is -inf
// where a row holds +inf, PyTorch's is NaN there.
Status log_softmax(Call& call) {
  SOLSTICE_TRY(const Value x, call.tensor("self"));
  SOLSTICE_TRY(const Rows shift, read_rows(call, x));
  const TermRef shifted = shift.element - reduce("max", shift.row, shift.row_element);
  const Value sh = call.draft().define("sh", shift.axes, shifted, shift.dtype);
  SOLSTICE_TRY(const Rows rows, read_rows(call, sh));
  const TermRef y = rows.element - apply("log", {reduce("sum", rows.row, apply("exp", {rows.row_element}))});
  return call.yield(call.draft().define(call.wish(), rows.axes, y, rows.dtype));
}

}  // namespace

const RuleGroup kSoftmaxRules = {
    "softmax",
    {
        {"aten.softmax.int", softmax},
        {"aten._softmax.default", softmax},
        {"aten.softmin.int", softmin},
        {"aten.log_softmax.int", log_softmax},
        {"aten._log_softmax.default", log_softmax},
    },
};

}  // namespace solstice::importer
