// Reductions along some axes, or all.
#include <algorithm>

#include "import/call/conversion.h"
#include "import/rules.h"
#include "import/rules/index.h"
#include "import/rules/loss.h"

namespace solstice::importer {
namespace {

// The axes of a reduction: loops over everything, and what remains of the shape.
struct Reduction {
  Axes loops;  // one an axis of the operand
  Axes kept;   // axes of the result
  std::vector<Loop> reduced;
  Size count = Size(1);  // elements that one result takes in
  TermRef element;       // the operand at `loops`
};

Reduction over(Call& call, const Value& x, const std::vector<int>& axes, bool keepdim) {
  Reduction out;
  for (int i = 0; i < x.rank(); ++i) {
    out.loops.push_back(call.loops().align(x.axis(i)));
    const Axis& loops = out.loops.back();
    if (std::find(axes.begin(), axes.end(), i) == axes.end()) {
      out.kept.push_back(loops);
      continue;
    }
    if (keepdim) out.kept.push_back({});
    out.reduced.insert(out.reduced.end(), loops.digits.begin(), loops.digits.end());
    out.count = out.count * call.loops().size(loops);
  }
  out.element = read_at(x, flat_all(out.loops, call.loops()), call.loops());
  return out;
}

Result<Reduction> read_reduction(Call& call) {
  SOLSTICE_TRY(const Value x, call.tensor("self"));
  std::vector<int> axes;
  for (int i = 0; i < x.rank(); ++i) axes.push_back(i);
  if (call.has("dim")) {
    SOLSTICE_TRY(axes, call.axes("dim", x.rank()));
  }
  bool keepdim = false;
  if (call.has("keepdim")) {
    SOLSTICE_TRY(keepdim, call.flag("keepdim"));
  }
  return over(call, x, axes, keepdim);
}

using Body = std::function<TermRef(const Reduction&)>;

Status reduction(Call& call, const Body& body) {
  SOLSTICE_TRY(const DType dtype, call.out_dtype());
  SOLSTICE_TRY(const Reduction r, read_reduction(call));
  return call.yield(call.draft().define(call.wish(), r.kept, body(r), dtype));
}

// Elements are converted before they are reduced; among truths a maximum is any of them, a minimum all.
template <const char* R>
Status plain(Call& call) {
  SOLSTICE_TRY(const Value x, call.tensor("self"));
  SOLSTICE_TRY(const DType dtype, call.out_dtype());
  return reduction(call, [&](const Reduction& r) {
    return reduce(reducer_of(R, dtype), r.reduced, converted(call, x, r.element, dtype));
  });
}
constexpr char kSum[] = "sum", kMean[] = "mean", kMax[] = "max", kMin[] = "min", kProd[] = "prod",
               kLogSumExp[] = "logsumexp", kAny[] = "any", kAll[] = "all", kArgMax[] = "argmax", kArgMin[] = "argmin";

template <const char* R>
Status truth(Call& call) {
  SOLSTICE_TRY(const Value x, call.tensor("self"));
  return reduction(call, [&](const Reduction& r) {
    const TermRef element = x.dtype == DType::kBool ? r.element : binary("!=", r.element, integer(0));
    return r.reduced.empty() ? element : reduce(R, r.reduced, element);
  });
}

Result<Value> arg_reduce(Call& call, const Value& x, int axis, const char* reducer, bool keepdim) {
  Axes loops, kept;
  for (int i = 0; i < x.rank(); ++i) {
    loops.push_back(i == axis ? single(call, x.axis(i)) : call.loops().align(x.axis(i)));
    if (i != axis) kept.push_back(loops.back());
    if (i == axis && keepdim) kept.push_back({});
  }
  const TermRef element = read_at(x, flat_all(loops, call.loops()), call.loops());
  const TermRef rhs = reduce(reducer, loops[static_cast<size_t>(axis)].digits, as_stored(call, x, element));
  return call.draft().define(reducer, kept, rhs, DType::kI64);
}

template <const char* R>
Status arg(Call& call) {
  SOLSTICE_TRY(Value x, call.tensor("self"));
  if (call.is_none("dim")) {
    x = flattened(call, x);
    SOLSTICE_TRY(Value y, arg_reduce(call, x, 0, R, false));
    for (size_t i = 0; i < call.out_shape().size(); ++i) y.axes.push_back({});
    return call.yield(std::move(y));
  }
  SOLSTICE_TRY(const int axis, call.axis("dim", x.rank()));
  SOLSTICE_TRY(const bool keepdim, call.flag("keepdim"));
  SOLSTICE_TRY(Value y, arg_reduce(call, x, axis, R, keepdim));
  return call.yield(std::move(y));
}

// Values and, where something reads it, the first index that has them.
template <const char* R, const char* ArgR>
Status with_index(Call& call) {
  SOLSTICE_TRY(const Value x, call.tensor("self"));
  SOLSTICE_TRY(const int axis, call.axis("dim", x.rank()));
  SOLSTICE_TRY(const bool keepdim, call.flag("keepdim"));
  const Reduction r = over(call, x, {axis}, keepdim);
  SOLSTICE_CHECK(call.yield(
      0, call.draft().define(call.wish(), r.kept, reduce(reducer_of(R, x.dtype), r.reduced, r.element), x.dtype)));
  if (!call.out_used(1)) return success();
  SOLSTICE_TRY(Value index, arg_reduce(call, x, axis, ArgR, keepdim));
  return call.yield(1, std::move(index));
}

// var * n / max(n - correction, 0): infinite, or NaN of equal elements, where the correction takes all of them.
Result<TermRef> variance(Call& call, const Reduction& r) {
  double correction = 1;
  if (call.has("correction") && !call.is_none("correction")) {
    SOLSTICE_TRY(correction, call.number("correction"));
  }
  if (call.has("unbiased")) {
    SOLSTICE_TRY(const bool unbiased, call.flag("unbiased"));
    correction = unbiased ? 1 : 0;
  }
  const TermRef biased = reduce("var", r.reduced, r.element);
  if (correction == 0) return biased;
  const TermRef n = size_value(r.count), rest = n - real(correction);
  const bool is_used_up = static_cast<double>(r.count.value()) <= correction;
  return biased * n / (is_used_up ? apply("max", {rest, integer(0)}) : rest);
}

Status var(Call& call) {
  SOLSTICE_TRY(const DType dtype, call.out_dtype());
  SOLSTICE_TRY(const Reduction r, read_reduction(call));
  SOLSTICE_TRY(const TermRef value, variance(call, r));
  return call.yield(call.draft().define(call.wish(), r.kept, value, dtype));
}

// The variance, or its root, and the mean.
template <bool Root>
Status spread_and_mean(Call& call) {
  SOLSTICE_TRY(const DType dtype, call.out_dtype());
  SOLSTICE_TRY(const Reduction r, read_reduction(call));
  SOLSTICE_TRY(const TermRef value, variance(call, r));
  SOLSTICE_CHECK(call.yield(
      0, call.draft().define(Root ? "std" : "variance", r.kept, Root ? apply("sqrt", {value}) : value, dtype)));
  return call.yield(1, call.draft().define("average", r.kept, reduce("mean", r.reduced, r.element), dtype));
}

Status standard_deviation(Call& call) {
  SOLSTICE_TRY(const DType dtype, call.out_dtype());
  SOLSTICE_TRY(const Reduction r, read_reduction(call));
  SOLSTICE_TRY(const TermRef value, variance(call, r));
  return call.yield(call.draft().define(call.wish(), r.kept, apply("sqrt", {value}), dtype));
}

// The p-norm of all elements along the axes; never a matrix norm.
Status vector_norm(Call& call) {
  SOLSTICE_TRY(const double p, call.has("ord") ? call.number("ord") : call.number("p"));
  return reduction(call, [&](const Reduction& r) { return norm_of(p, r.reduced, r.element); });
}

}  // namespace

const RuleGroup kReduceRules = {
    "reduce",
    {
        {"aten.sum.default", plain<kSum>},
        {"aten.sum.dim_IntList", plain<kSum>},
        {"aten.mean.default", plain<kMean>},
        {"aten.mean.dim", plain<kMean>},
        {"aten.prod.default", plain<kProd>},
        {"aten.prod.dim_int", plain<kProd>},
        {"aten.max.default", plain<kMax>},
        {"aten.min.default", plain<kMin>},
        {"aten.amax.default", plain<kMax>},
        {"aten.amin.default", plain<kMin>},
        {"aten.logsumexp.default", plain<kLogSumExp>},
        {"aten.max.dim", with_index<kMax, kArgMax>},
        {"aten.min.dim", with_index<kMin, kArgMin>},
        {"aten.argmax.default", arg<kArgMax>},
        {"aten.argmin.default", arg<kArgMin>},
        {"aten.any.default", truth<kAny>},
        {"aten.any.dim", truth<kAny>},
        {"aten.all.default", truth<kAll>},
        {"aten.all.dim", truth<kAll>},
        {"aten.var.default", var},
        {"aten.var.dim", var},
        {"aten.var.correction", var},
        {"aten.std.default", standard_deviation},
        {"aten.std.dim", standard_deviation},
        {"aten.std.correction", standard_deviation},
        {"aten.var_mean.default", spread_and_mean<false>},
        {"aten.var_mean.dim", spread_and_mean<false>},
        {"aten.var_mean.correction", spread_and_mean<false>},
        {"aten.std_mean.default", spread_and_mean<true>},
        {"aten.std_mean.dim", spread_and_mean<true>},
        {"aten.std_mean.correction", spread_and_mean<true>},
        {"aten.linalg_vector_norm.default", vector_norm},
        {"aten.norm.ScalarOpt_dim", vector_norm},
        {"aten.norm.Scalar", vector_norm},
    },
};

}  // namespace solstice::importer
