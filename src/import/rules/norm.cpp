// Normalisations. Statistics are equations of their own; variances are biased, the epsilon is under the root.
#include <limits>

#include "import/rules.h"

namespace solstice::importer {
namespace {

// Loops over x, some of them reduced; the statistics read at the same loops.
struct Statistics {
  Axes axes;
  TermRef element;
  TermRef mean;  // at the loops
  TermRef variance;
  Value mean_value;
  Value variance_value;
  Size count = Size(1);
};

using AxisTest = std::function<bool(int)>;

Statistics statistics_of(Call& call, const Value& x, const Axes& axes, const AxisTest& reduced) {
  Statistics out;
  out.axes = axes;
  out.element = read_at(x, flat_all(axes, call.loops()), call.loops());
  Axes kept;
  std::vector<Loop> over;
  for (int i = 0; i < x.rank(); ++i) {
    const Axis& axis = axes[static_cast<size_t>(i)];
    if (reduced(i)) {
      over.insert(over.end(), axis.digits.begin(), axis.digits.end());
      out.count = out.count * call.loops().size(axis);
    } else {
      kept.push_back(axis);
    }
  }
  out.mean_value = call.draft().define("mu", kept, reduce("mean", over, out.element), x.dtype);
  out.variance_value = call.draft().define("vr", kept, reduce("var", over, out.element), x.dtype);
  out.mean = out.mean_value.term;
  out.variance = out.variance_value.term;
  return out;
}

TermRef normalised(const TermRef& x, const TermRef& mean, const TermRef& variance, double eps) {
  return (x - mean) * apply("rsqrt", {variance + real(eps)});
}

TermRef with_affine(TermRef y, const TermRef& weight, const TermRef& bias) {
  if (weight) y = y * weight;
  return bias ? y + bias : y;
}

// A per-channel parameter at the loops of the channel axis; null if there is none.
Result<TermRef> channel_parameter(Call& call, const char* name, const Axis& channel) {
  if (call.is_none(name)) return TermRef();
  SOLSTICE_TRY(const Value value, call.tensor(name));
  return read_at(value, {call.loops().flat(channel)}, call.loops());
}

// Loops over x with the channels (axis 1) aligned to a parameter's.
Result<Axes> channel_loops(Call& call, const Value& x, const std::vector<const char*>& parameters) {
  Axes axes;
  for (int i = 0; i < x.rank(); ++i) {
    std::vector<const Axis*> aligned{&x.axis(i)};
    Operands values;
    for (const char* name : parameters) {
      if (i != 1 || call.is_none(name)) continue;
      SOLSTICE_TRY(const Value value, call.tensor(name));
      values.push_back(value);
    }
    for (const Value& value : values) {
      if (value.rank() != 1) return call.unsupported("a parameter of a normalisation that is no vector");
      aligned.push_back(&value.axis(0));
    }
    axes.push_back(call.loops().align(aligned));
  }
  return axes;
}

// A tensor with channels.
Result<Value> channelled(Call& call) {
  SOLSTICE_TRY(Value x, call.tensor("input"));
  if (x.rank() < 2) return call.unsupported("an input without a channel axis");
  return x;
}

// PyTorch updates a mean element by element, which an infinity turns into inf - inf = NaN (unless it is the first
// element that a thread meets: then it stays Inf, which depends on PyTorch's launch and is not imitated).
TermRef mean_as_updated(const TermRef& mean) {
  return select(apply("isfinite", {mean}), mean, real(std::numeric_limits<double>::quiet_NaN()));
}

// new = (1 - momentum) * old + momentum * seen
Status yield_running(Call& call, size_t result, const char* name, const TermRef& seen, const Axis& channel) {
  SOLSTICE_TRY(const double momentum, call.number("momentum"));
  SOLSTICE_TRY(const TermRef old, channel_parameter(call, name, channel));
  SOLSTICE_TRY(const DType dtype, call.out_dtype(result));
  const TermRef updated = real(1 - momentum) * old + real(momentum) * seen;
  return call.yield(result, call.draft().define(std::string(name) + "_new", {channel}, updated, dtype));
}

// Results: y, mean, 1/sqrt(variance + eps), new running mean, new running variance (unbiased).
Status batch_norm_train(Call& call, bool has_running) {
  SOLSTICE_TRY(const Value x, channelled(call));
  SOLSTICE_TRY(const double eps, call.number("eps"));
  SOLSTICE_TRY(const DType dtype, call.out_dtype());
  std::vector<const char*> parameters{"weight", "bias"};
  if (has_running) parameters.insert(parameters.end(), {"running_mean", "running_var"});
  hint(call, x.axis(1), "C");
  SOLSTICE_TRY(const Axes axes, channel_loops(call, x, parameters));
  const Axis channel = axes[1];
  SOLSTICE_TRY(const TermRef weight, channel_parameter(call, "weight", channel));
  SOLSTICE_TRY(const TermRef bias, channel_parameter(call, "bias", channel));
  const Statistics s = statistics_of(call, x, axes, [](int axis) { return axis != 1; });
  const TermRef y = with_affine(normalised(s.element, s.mean, s.variance, eps), weight, bias);
  SOLSTICE_CHECK(call.yield(0, call.draft().define(call.wish("bn"), axes, y, dtype)));
  if (call.out_used(1)) SOLSTICE_CHECK(call.yield(1, s.mean_value));
  if (call.out_used(2)) {
    const TermRef rstd = apply("rsqrt", {s.variance + real(eps)});
    SOLSTICE_CHECK(call.yield(2, call.draft().define("rstd", {channel}, rstd, dtype)));
  }
  if (!has_running) return success();
  if (s.count.value() < 2) return call.unsupported("one value for each channel has no unbiased variance");
  const DimId count = call.dims().fresh(s.count.value());
  call.dims().hint(count, "CNT", 10);
  call.dims().derive(count, {s.count, 1, 0});
  const TermRef n = size_value(call.dims().size(count));
  SOLSTICE_CHECK(yield_running(call, 3, "running_mean", mean_as_updated(s.mean), channel));
  return yield_running(call, 4, "running_var", s.variance * n / (n - integer(1)), channel);
}

Status batch_norm_frozen(Call& call) {
  SOLSTICE_TRY(const Value x, channelled(call));
  SOLSTICE_TRY(const double eps, call.number("eps"));
  SOLSTICE_TRY(const DType dtype, call.out_dtype());
  hint(call, x.axis(1), "C");
  SOLSTICE_TRY(const Axes axes, channel_loops(call, x, {"weight", "bias", "running_mean", "running_var"}));
  SOLSTICE_TRY(const TermRef weight, channel_parameter(call, "weight", axes[1]));
  SOLSTICE_TRY(const TermRef bias, channel_parameter(call, "bias", axes[1]));
  SOLSTICE_TRY(const TermRef mean, channel_parameter(call, "running_mean", axes[1]));
  SOLSTICE_TRY(const TermRef variance, channel_parameter(call, "running_var", axes[1]));
  const TermRef element = read_at(x, flat_all(axes, call.loops()), call.loops());
  const TermRef y = with_affine(normalised(element, mean, variance, eps), weight, bias);
  return call.yield(call.draft().define(call.wish("bn"), axes, y, dtype));
}

Status batch_norm_functional(Call& call) {
  SOLSTICE_TRY(const bool training, call.flag("training"));
  return training ? batch_norm_train(call, true) : batch_norm_frozen(call);
}

Status batch_norm_no_stats(Call& call) { return batch_norm_train(call, false); }

// Statistics for each sample and channel.
Status instance_norm(Call& call) {
  SOLSTICE_TRY(const Value x, channelled(call));
  SOLSTICE_TRY(const double eps, call.number("eps"));
  SOLSTICE_TRY(const bool use_input_stats, call.flag("use_input_stats"));
  SOLSTICE_TRY(const DType dtype, call.out_dtype());
  if (!use_input_stats) return batch_norm_frozen(call);
  if (!call.is_none("running_mean")) return call.unsupported("running statistics of an instance norm");
  hint(call, x.axis(1), "C");
  SOLSTICE_TRY(const Axes axes, channel_loops(call, x, {"weight", "bias"}));
  SOLSTICE_TRY(const TermRef weight, channel_parameter(call, "weight", axes[1]));
  SOLSTICE_TRY(const TermRef bias, channel_parameter(call, "bias", axes[1]));
  const Statistics s = statistics_of(call, x, axes, [](int axis) { return axis >= 2; });
  const TermRef y = with_affine(normalised(s.element, s.mean, s.variance, eps), weight, bias);
  return call.yield(call.draft().define(call.wish("inorm"), axes, y, dtype));
}

// Channel C*g+c belongs to group g; statistics for each sample and group.
Status group_norm(Call& call) {
  SOLSTICE_TRY(const Value x, channelled(call));
  SOLSTICE_TRY(const int64_t groups, call.count("num_groups"));
  SOLSTICE_TRY(const double eps, call.number("eps"));
  SOLSTICE_TRY(const DType dtype, call.out_dtype());
  if (x.extent(1) % groups != 0) return call.unsupported("groups that do not divide the channels");
  hint(call, x.axis(1), "C");
  SOLSTICE_TRY(const Axes whole, channel_loops(call, x, {"weight", "bias"}));
  Substitution old;
  const Axes parts = call.loops().reshape({x.axis(1)}, {groups, x.extent(1) / groups}, old);
  hint(call, parts[0], "G");
  hint(call, parts[1], "D");
  Value split = x;
  split.term = substitute(x.term, old, call.dims());
  split.axes[1] = parts[0];
  split.axes.insert_at(2, parts[1]);
  Axes axes = whole;
  axes[1] = call.loops().align(parts[0]);
  axes.insert_at(2, call.loops().align(parts[1]));
  Axis channel = axes[1];
  channel.digits.insert(channel.digits.end(), axes[2].digits.begin(), axes[2].digits.end());
  SOLSTICE_TRY(const TermRef weight, channel_parameter(call, "weight", channel));
  SOLSTICE_TRY(const TermRef bias, channel_parameter(call, "bias", channel));
  const Statistics s = statistics_of(call, split, axes, [](int axis) { return axis >= 2; });
  Axes merged = whole;
  merged[1] = channel;
  const TermRef y = with_affine(normalised(s.element, s.mean, s.variance, eps), weight, bias);
  return call.yield(call.draft().define_merged(call.wish("gn"), merged, y, dtype));
}

// The last axes, with the parameters given element by element.
struct Trailing {
  Axes axes;
  int first = 0;
  TermRef weight, bias;
};

Result<Trailing> trailing_axes(Call& call, const Value& x, const std::vector<const char*>& parameters) {
  Trailing out;
  SOLSTICE_TRY(const Integers shape, call.integers("normalized_shape"));
  out.first = x.rank() - static_cast<int>(shape.size());
  if (out.first < 0) return call.unsupported("more normalised axes than the tensor has");
  Operands values;
  for (const char* name : parameters) {
    if (call.is_none(name)) continue;
    SOLSTICE_TRY(const Value value, call.tensor(name));
    if (value.rank() != x.rank() - out.first)
      return call.unsupported("parameters of another rank than what is normalised");
    values.push_back(value);
  }
  for (int i = 0; i < x.rank(); ++i) {
    std::vector<const Axis*> aligned{&x.axis(i)};
    for (const Value& value : values) {
      if (i >= out.first) aligned.push_back(&value.axis(i - out.first));
    }
    out.axes.push_back(call.loops().align(aligned));
  }
  Indices at;
  for (int i = out.first; i < x.rank(); ++i) at.push_back(call.loops().flat(out.axes[static_cast<size_t>(i)]));
  size_t next = 0;
  if (!call.is_none("weight")) out.weight = read_at(values[next++], at, call.loops());
  if (next < values.size()) out.bias = read_at(values[next], at, call.loops());
  return out;
}

Status layer_norm(Call& call) {
  SOLSTICE_TRY(const Value x, call.tensor("input"));
  SOLSTICE_TRY(const double eps, call.number("eps"));
  SOLSTICE_TRY(const DType dtype, call.out_dtype());
  SOLSTICE_TRY(const Trailing t, trailing_axes(call, x, {"weight", "bias"}));
  const Statistics s = statistics_of(call, x, t.axes, [&](int axis) { return axis >= t.first; });
  const TermRef y = with_affine(normalised(s.element, s.mean, s.variance, eps), t.weight, t.bias);
  return call.yield(call.draft().define(call.wish("ln"), t.axes, y, dtype));
}

double epsilon_of(DType dtype) {
  if (dtype == DType::kF64) return std::numeric_limits<double>::epsilon();
  if (dtype == DType::kF16) return 0x1p-10;
  return dtype == DType::kBF16 ? 0x1p-7 : static_cast<double>(std::numeric_limits<float>::epsilon());
}

// x * rsqrt(mean(x**2) + eps) * w; eps = None is the machine epsilon of x.
Status rms_norm(Call& call) {
  SOLSTICE_TRY(const Value x, call.tensor("input"));
  SOLSTICE_TRY(const DType dtype, call.out_dtype());
  double eps = epsilon_of(x.dtype);
  if (!call.is_none("eps")) {
    SOLSTICE_TRY(eps, call.number("eps"));
  }
  SOLSTICE_TRY(const Trailing t, trailing_axes(call, x, {"weight"}));
  const TermRef element = read_at(x, flat_all(t.axes, call.loops()), call.loops());
  Axes kept(t.axes.begin(), t.axes.begin() + t.first);
  std::vector<Loop> over;
  for (size_t i = static_cast<size_t>(t.first); i < t.axes.size(); ++i) {
    over.insert(over.end(), t.axes[i].digits.begin(), t.axes[i].digits.end());
  }
  const TermRef square = reduce("mean", over, binary("**", element, integer(2)));
  const Value scale = call.draft().define("rms", kept, apply("rsqrt", {square + real(eps)}), dtype);
  return call.yield(
      call.draft().define(call.wish("rn"), t.axes, with_affine(element * scale.term, t.weight, nullptr), dtype));
}

}  // namespace

const RuleGroup kNormRules = {
    "norm",
    {
        {"aten._native_batch_norm_legit_functional.default", batch_norm_functional},
        {"aten._native_batch_norm_legit.no_stats", batch_norm_no_stats},
        {"aten._native_batch_norm_legit_no_training.default", batch_norm_frozen},
        {"aten.instance_norm.default", instance_norm},
        {"aten.group_norm.default", group_norm},
        {"aten.layer_norm.default", layer_norm},
        {"aten.rms_norm.default", rms_norm},
    },
};

}  // namespace solstice::importer
