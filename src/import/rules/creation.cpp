// Tensors made from nothing: closed forms, folded into whatever reads them.
#include "import/call/conversion.h"
#include "import/rules.h"

namespace solstice::importer {
namespace {

Status constant(Call& call, const TermRef& value) {
  SOLSTICE_TRY(const DType dtype, call.out_dtype());
  Axes axes;
  for (const int64_t extent : call.out_shape()) axes.push_back(call.loops().fresh_axis(extent));
  return call.yield({std::move(axes), value, dtype});
}

// The same, over the axes of `self`, so that dims are shared.
Status constant_like(Call& call, const TermRef& value) {
  SOLSTICE_TRY(const Value like, call.tensor("self"));
  SOLSTICE_TRY(const DType dtype, call.out_dtype());
  Axes axes;
  for (const Axis& axis : like.axes) axes.push_back(call.loops().align(axis));
  return call.yield({std::move(axes), value, dtype});
}

TermRef whole_number(Call& call, int64_t value) {
  const auto dtype = call.out_dtype();
  if (dtype.ok() && *dtype == DType::kBool) return literal(value != 0 ? "true" : "false");
  return integer(value);
}

Status zeros(Call& call) { return constant(call, whole_number(call, 0)); }
Status ones(Call& call) { return constant(call, whole_number(call, 1)); }
Status zeros_like(Call& call) { return constant_like(call, whole_number(call, 0)); }
Status ones_like(Call& call) { return constant_like(call, whole_number(call, 1)); }

// The argument of that name, in the result's dtype.
Result<TermRef> given_value(Call& call, const char* argument) {
  SOLSTICE_TRY(const DType dtype, call.out_dtype());
  return element_of(call, argument, dtype);
}

Status full(Call& call) {
  SOLSTICE_TRY(const TermRef value, given_value(call, "fill_value"));
  return constant(call, value);
}

Status full_like(Call& call) {
  SOLSTICE_TRY(const TermRef value, given_value(call, "fill_value"));
  return constant_like(call, value);
}

Status fill(Call& call) {
  SOLSTICE_TRY(const TermRef value, given_value(call, "value"));
  return constant_like(call, value);
}

Status scalar_tensor(Call& call) {
  SOLSTICE_TRY(const TermRef value, given_value(call, "s"));
  return constant(call, value);
}

// start + step * i
Status arange(Call& call) {
  SOLSTICE_TRY(const DType dtype, call.out_dtype());
  const auto given = [&](const char* name) { return call.has(name) && !call.is_none(name); };
  TermRef start = integer(0), step = integer(1);
  if (given("start")) {
    SOLSTICE_TRY(start, element_of(call, "start", dtype));
  }
  if (given("step")) {
    SOLSTICE_TRY(step, element_of(call, "step", dtype));
  }
  const Axis axis = call.out_shape().empty() ? Axis{} : call.loops().fresh_axis(call.out_shape()[0]);
  TermRef value = index_value(call.loops().flat(axis));
  if (!(step->kind == TermKind::kLiteral && step->text == "1")) value = step * value;
  if (!(start->kind == TermKind::kLiteral && start->text == "0")) value = start + value;
  return call.yield({{axis}, value, dtype});
}

// From the start in the first half, from the end in the second; the step is rounded.
Status linspace(Call& call) {
  SOLSTICE_TRY(const DType dtype, call.out_dtype());
  if (dtype != DType::kF32 && dtype != DType::kF64)
    return call.unsupported("only f32 and f64 are as PyTorch computes them");
  SOLSTICE_TRY(const double start, call.number("start"));
  SOLSTICE_TRY(const double end, call.number("end"));
  const int64_t steps = call.out_extent(0);
  const Axis axis = call.loops().fresh_axis(steps);
  const TermRef first = rounded_scalar(start, dtype), last = rounded_scalar(end, dtype);
  if (steps == 1) return call.yield({{axis}, first, dtype});
  const bool is_single = dtype == DType::kF32;
  const double step =
      is_single
          ? static_cast<double>((static_cast<float>(end) - static_cast<float>(start)) / static_cast<float>(steps - 1))
          : (end - start) / static_cast<double>(steps - 1);
  const Index i = call.loops().flat(axis);
  const Index left = Index(call.loops().size(axis) - Size(1)) + scale(i, Size(-1));
  const TermRef rise = index_value(i) * real(step);
  const TermRef value = importer::select(binary("<", index_value(i), integer(steps / 2)),
                                         start == 0 ? rise : first + rise, last - index_value(left) * real(step));
  return call.yield({{axis}, value, dtype});
}

}  // namespace

const RuleGroup kCreationRules = {
    "creation",
    {
        {"aten.zeros.default", zeros},
        {"aten.ones.default", ones},
        {"aten.full.default", full},
        {"aten.new_zeros.default", zeros},
        {"aten.new_ones.default", ones},
        {"aten.new_full.default", full},
        {"aten.empty.memory_format", zeros},  // any contents will do
        {"aten.new_empty.default", zeros},
        {"aten.empty_like.default", zeros_like},
        {"aten.zeros_like.default", zeros_like},
        {"aten.ones_like.default", ones_like},
        {"aten.full_like.default", full_like},
        {"aten.fill.Scalar", fill},
        {"aten.scalar_tensor.default", scalar_tensor},
        {"aten.arange.default", arange},
        {"aten.linspace.default", linspace},
        {"aten.arange.start", arange},
        {"aten.arange.start_step", arange},
    },
};

}  // namespace solstice::importer
