// Elementwise operators of one tensor. Parameters follow PyTorch's formulas; see docs/import.md for the traps.
#include <cmath>
#include <cstdlib>

#include "import/rules.h"

namespace solstice::importer {
namespace {

template <size_t N>
struct Name {
  char text[N];
  consteval Name(const char (&source)[N]) {  // NOLINT: a literal is a name
    for (size_t i = 0; i < N; ++i) text[i] = source[i];
  }
};

// A function of the language with the operator's own meaning.
template <Name F>
Status function(Call& call) {
  return map_self(call, [](const TermRef& x) { return apply(F.text, {x}); });
}

// Functions that jump: what PyTorch rounds before them must be rounded here too.
template <Name F>
Status step_function(Call& call) {
  SOLSTICE_TRY(const Value x, call.tensor("self"));
  if (x.dtype == DType::kBool) return call.yield(x);  // the sign of a truth is that truth
  return map_self(call, [&](const TermRef& t) { return apply(F.text, {as_stored(call, x, t)}); });
}

Status reciprocal(Call& call) {
  return map_self(call, [](const TermRef& x) { return integer(1) / x; });
}

Status square(Call& call) {
  return map_self(call, [](const TermRef& x) { return binary("**", x, integer(2)); });
}

Status log_to_base(Call& call, double base) {
  return map_self(call, [&](const TermRef& x) { return apply("log", {x}) / apply("log", {real(base)}); });
}
Status log2(Call& call) { return log_to_base(call, 2); }
Status log10(Call& call) { return log_to_base(call, 10); }

Status exp2(Call& call) {
  return map_self(call, [](const TermRef& x) { return apply("exp", {x * apply("log", {integer(2)})}); });
}

// round(10**d * x) / 10**d; the product is rounded as PyTorch stores it.
Status round_decimals(Call& call) {
  SOLSTICE_TRY(const Value x, call.tensor("self"));
  SOLSTICE_TRY(const DType dtype, call.out_dtype());
  SOLSTICE_TRY(const int64_t decimals, call.integer("decimals"));
  if (std::abs(decimals) > 300) return call.unsupported("a power of ten beyond f64");
  const TermRef power = rounded_scalar(std::pow(10.0, static_cast<double>(std::abs(decimals))), dtype);
  return map_self(call, [&](const TermRef& t) {
    const TermRef stored = as_stored(call, x, t);
    if (decimals == 0) return apply("round", {stored});
    const TermRef scaled = apply(std::string(name_of(dtype)), {decimals > 0 ? stored * power : stored / power});
    return decimals > 0 ? apply("round", {scaled}) / power : apply("round", {scaled}) * power;
  });
}

// The language knows no sign of zero.
Status signbit(Call& call) {
  SOLSTICE_TRY(const Value x, call.tensor("self"));
  if (is_float(x.dtype)) call.note("a zero counts as positive; PyTorch looks at its sign");
  return map_self(call, [&](const TermRef& t) { return binary("<", as_stored(call, x, t), integer(0)); });
}

Status gelu(Call& call) {
  SOLSTICE_TRY(const std::string variant, call.text("approximate"));
  return map_self(call, [&](const TermRef& x) { return apply(variant == "tanh" ? "gelu_tanh" : "gelu", {x}); });
}

// min(max(x, low), high): NaN wins, and high wins over low.
TermRef clamped(TermRef x, const TermRef& low, const TermRef& high) {
  if (low && high) return apply("clamp", {x, low, high});
  if (low) return apply("max", {x, low});
  return high ? apply("min", {x, high}) : x;
}

Status clamp_between(Call& call, const char* low_name, const char* high_name) {
  SOLSTICE_TRY(const DType dtype, call.out_dtype());
  TermRef low, high;
  if (low_name && !call.is_none(low_name)) {
    SOLSTICE_TRY(low, call.scalar(low_name, dtype));
  }
  if (high_name && !call.is_none(high_name)) {
    SOLSTICE_TRY(high, call.scalar(high_name, dtype));
  }
  return map_self(call, [&](const TermRef& x) { return clamped(x, low, high); });
}
Status clamp(Call& call) { return clamp_between(call, "min", "max"); }
Status clamp_min(Call& call) { return clamp_between(call, "min", nullptr); }
Status clamp_max(Call& call) { return clamp_between(call, nullptr, "max"); }
Status hardtanh(Call& call) { return clamp_between(call, "min_val", "max_val"); }

Status leaky_relu(Call& call) {
  SOLSTICE_TRY(const DType dtype, call.out_dtype());
  SOLSTICE_TRY(const TermRef slope, call.scalar("negative_slope", dtype));
  return map_self(call, [&](const TermRef& x) { return apply("leaky_relu", {x, slope}); });
}

// x > 0 ? scale*x : scale*alpha*expm1(input_scale*x)
TermRef elu_of(const TermRef& x, const TermRef& negative) { return select(binary(">", x, integer(0)), x, negative); }

Status elu(Call& call) {
  SOLSTICE_TRY(const DType dtype, call.out_dtype());
  SOLSTICE_TRY(const TermRef alpha, call.scalar("alpha", dtype));
  SOLSTICE_TRY(const double scale, call.number("scale"));
  SOLSTICE_TRY(const double input_scale, call.number("input_scale"));
  return map_self(call, [&](const TermRef& x) {
    const TermRef argument = input_scale == 1 ? x : rounded_scalar(input_scale, dtype) * x;
    const TermRef y = elu_of(x, alpha * apply("expm1", {argument}));
    return scale == 1 ? y : rounded_scalar(scale, dtype) * y;
  });
}

Status celu(Call& call) {
  SOLSTICE_TRY(const DType dtype, call.out_dtype());
  SOLSTICE_TRY(const TermRef alpha, call.scalar("alpha", dtype));
  return map_self(call, [&](const TermRef& x) { return elu_of(x, alpha * apply("expm1", {x / alpha})); });
}

Status selu(Call& call) {
  SOLSTICE_TRY(const DType dtype, call.out_dtype());
  const TermRef scale = rounded_scalar(1.0507009873554804934193349852946, dtype);
  const TermRef alpha = rounded_scalar(1.6732632423543772848170429916717, dtype);
  return map_self(call, [&](const TermRef& x) { return scale * elu_of(x, alpha * apply("expm1", {x})); });
}

Status softplus(Call& call) {
  SOLSTICE_TRY(const DType dtype, call.out_dtype());
  SOLSTICE_TRY(const double beta, call.number("beta"));
  SOLSTICE_TRY(const TermRef threshold, call.scalar("threshold", dtype));
  const TermRef b = rounded_scalar(beta, dtype);
  return map_self(call, [&](const TermRef& x) {
    const TermRef scaled = beta == 1 ? x : b * x;
    const TermRef soft = apply("log1p", {apply("exp", {scaled})});
    return select(binary(">", scaled, threshold), x, beta == 1 ? soft : soft / b);
  });
}

Status threshold(Call& call) {
  SOLSTICE_TRY(const DType dtype, call.out_dtype());
  SOLSTICE_TRY(const TermRef limit, call.scalar("threshold", dtype));
  SOLSTICE_TRY(const TermRef value, call.scalar("value", dtype));
  SOLSTICE_TRY(const Value self, call.tensor("self"));
  return map_self(call,
                  [&](const TermRef& x) { return select(binary("<=", as_stored(call, self, x), limit), value, x); });
}

Status hardshrink(Call& call) {
  SOLSTICE_TRY(const DType dtype, call.out_dtype());
  SOLSTICE_TRY(const TermRef lambda, call.scalar("lambd", dtype));
  SOLSTICE_TRY(const Value self, call.tensor("self"));
  return map_self(call, [&](const TermRef& x) {
    return select(binary("<=", apply("abs", {as_stored(call, self, x)}), lambda), integer(0), x);
  });
}

Status softshrink(Call& call) {
  SOLSTICE_TRY(const DType dtype, call.out_dtype());
  SOLSTICE_TRY(const TermRef lambda, call.scalar("lambd", dtype));
  return map_self(call, [&](const TermRef& x) {
    const TermRef negative = select(binary("<", x, negate(lambda)), x + lambda, x * integer(0));
    return select(binary(">", x, lambda), x - lambda, negative);
  });
}

Status glu(Call& call) {
  SOLSTICE_TRY(const Value x, call.tensor("self"));
  SOLSTICE_TRY(const int axis, call.axis("dim", x.rank()));
  SOLSTICE_TRY(const DType dtype, call.out_dtype());
  Axes axes;
  for (const Axis& a : x.axes) axes.push_back(call.loops().align(a));
  const int64_t half = x.extent(axis) / 2;
  axes[static_cast<size_t>(axis)] = call.loops().fresh_axis(half);
  const Size offset = call.loops().size(axes[static_cast<size_t>(axis)]);
  if (x.axis(axis).digits.size() == 1) call.dims().derive(x.axis(axis).digits[0].dim, {offset * Size(2), 1, 0});
  Indices at = flat_all(axes, call.loops());
  const TermRef value = read_at(x, at, call.loops());
  at[static_cast<size_t>(axis)] = at[static_cast<size_t>(axis)] + Index(offset);
  const TermRef gate = read_at(x, at, call.loops());
  return call.yield(call.draft().define(call.wish(), axes, value * apply("sigmoid", {gate}), dtype));
}

}  // namespace

const RuleGroup kUnaryRules = {
    "unary",
    {
        {"aten.relu.default", function<"relu">},
        {"aten.relu6.default", function<"relu6">},
        {"aten.sigmoid.default", function<"sigmoid">},
        {"aten.silu.default", function<"silu">},
        {"aten.tanh.default", function<"tanh">},
        {"aten.mish.default", function<"mish">},
        {"aten.hardsigmoid.default", function<"hardsigmoid">},
        {"aten.hardswish.default", function<"hardswish">},
        {"aten.log_sigmoid.default", function<"logsigmoid">},
        {"aten.exp2.default", exp2},
        {"aten.expm1.default", function<"expm1">},
        {"aten.log.default", function<"log">},
        {"aten.log1p.default", function<"log1p">},
        {"aten.log2.default", log2},
        {"aten.log10.default", log10},
        {"aten.sqrt.default", function<"sqrt">},
        {"aten.rsqrt.default", function<"rsqrt">},
        {"aten.erf.default", function<"erf">},
        {"aten.sin.default", function<"sin">},
        {"aten.cos.default", function<"cos">},
        {"aten.isnan.default", function<"isnan">},
        {"aten.isfinite.default", function<"isfinite">},
        {"aten.sign.default", step_function<"sign">},
        {"aten.floor.default", step_function<"floor">},
        {"aten.ceil.default", step_function<"ceil">},
        {"aten.round.default", step_function<"round">},
        {"aten.round.decimals", round_decimals},
        {"aten.signbit.default", signbit},
        {"aten.trunc.default", step_function<"trunc">},
        {"aten.reciprocal.default", reciprocal},
        {"aten.square.default", square},
        {"aten.gelu.default", gelu},
        {"aten.clamp.default", clamp},
        {"aten.clamp_min.default", clamp_min},
        {"aten.clamp_max.default", clamp_max},
        {"aten.hardtanh.default", hardtanh},
        {"aten.leaky_relu.default", leaky_relu},
        {"aten.elu.default", elu},
        {"aten.celu.default", celu},
        {"aten.selu.default", selu},
        {"aten.softplus.default", softplus},
        {"aten.threshold.default", threshold},
        {"aten.hardshrink.default", hardshrink},
        {"aten.softshrink.default", softshrink},
        {"aten.glu.default", glu},
    },
};

}  // namespace solstice::importer
