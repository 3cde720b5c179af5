// Functions of one tensor that the language has no word for, by those it has, finite where PyTorch's are. Differences
// are taken where nothing cancels, but for erfc of large x.
#include "import/rules.h"

namespace solstice::importer {
namespace {

using Function = TermRef (*)(const TermRef& x);

template <Function F>
Status of_self(Call& call) {
  return map_self(call, F);
}

TermRef call_of(const char* function, const TermRef& x) { return apply(function, {x}); }

// exp(x)/2 of a large x, which overflows later than exp(x) does.
TermRef half_exp(const TermRef& x) {
  const TermRef root = call_of("exp", x / integer(2));
  return root / integer(2) * root;
}
TermRef unless_large(const TermRef& x, const TermRef& large, const TermRef& y) {
  return select(binary(">", call_of("abs", x), integer(80)), large, y);
}

// expm1 keeps what is small near 0.
TermRef sinh(const TermRef& x) {
  const TermRef large = call_of("sign", x) * half_exp(call_of("abs", x));
  return unless_large(x, large, (call_of("expm1", x) - call_of("expm1", negate(x))) / integer(2));
}
TermRef cosh(const TermRef& x) {
  return unless_large(x, half_exp(call_of("abs", x)), (call_of("exp", x) + call_of("exp", negate(x))) / integer(2));
}
TermRef tan(const TermRef& x) { return call_of("sin", x) / call_of("cos", x); }

// Beyond this x*x + 1 and x*x - 1 are x*x, and log(2x) is log(x) + log(2), whereas x*x would overflow.
TermRef is_large(const TermRef& size) { return binary(">", size, literal("1e8")); }
TermRef log_of_twice(const TermRef& size) { return call_of("log", size) + literal("0.6931471805599453"); }

// sign(x) * log1p(|x| + x*x/(1 + sqrt(x*x + 1)))
TermRef asinh(const TermRef& x) {
  const TermRef size = call_of("abs", x), square = x * x;
  const TermRef rest = square / (integer(1) + call_of("sqrt", square + integer(1)));
  return call_of("sign", x) * select(is_large(size), log_of_twice(size), call_of("log1p", size + rest));
}
TermRef acosh(const TermRef& x) {
  const TermRef near = call_of("log", x + call_of("sqrt", (x - integer(1)) * (x + integer(1))));
  return select(is_large(x), log_of_twice(x), near);
}
TermRef atanh(const TermRef& x) { return (call_of("log1p", x) - call_of("log1p", negate(x))) / integer(2); }

// Angles, by the one function of two values.
TermRef atan(const TermRef& x) { return apply("atan2", {x, integer(1)}); }
TermRef other_leg(const TermRef& x) { return call_of("sqrt", (integer(1) - x) * (integer(1) + x)); }
TermRef asin(const TermRef& x) { return apply("atan2", {x, other_leg(x)}); }
TermRef acos(const TermRef& x) { return apply("atan2", {other_leg(x), x}); }

// By the larger leg, so that no square overflows; infinite where a leg is.
TermRef hypot(const TermRef& x, const TermRef& y) {
  const TermRef a = call_of("abs", x), b = call_of("abs", y);
  const TermRef large = apply("max", {a, b}), ratio = apply("min", {a, b}) / large;
  const TermRef plain = binary("or", binary("==", large, integer(0)), binary("==", large, literal("inf")));
  return select(plain, large, large * call_of("sqrt", integer(1) + ratio * ratio));
}

// Of one NaN the other value counts.
template <const char* F>
TermRef number_first(const TermRef& x, const TermRef& y) {
  return select(call_of("isnan", x), y, select(call_of("isnan", y), x, apply(F, {x, y})));
}
constexpr char kFirstMin[] = "min", kFirstMax[] = "max";

using FunctionOfTwo = TermRef (*)(const TermRef& x, const TermRef& y);

template <FunctionOfTwo F>
Status of_two(Call& call) {
  SOLSTICE_TRY(const DType dtype, call.out_dtype());
  SOLSTICE_TRY(const Value x, operand(call, "self", dtype));
  SOLSTICE_TRY(const Value y, operand(call, "other", dtype));
  return yield_pointwise(call, {x, y}, dtype, [](const Terms& t) { return F(t[0], t[1]); });
}

TermRef atan2(const TermRef& y, const TermRef& x) { return apply("atan2", {y, x}); }
TermRef erfinv(const TermRef& x) { return call_of("erfinv", x); }
TermRef lgamma(const TermRef& x) { return call_of("lgamma", x); }

TermRef erfc(const TermRef& x) { return integer(1) - call_of("erf", x); }
TermRef is_infinite(const TermRef& x) { return binary("==", call_of("abs", x), literal("inf")); }

}  // namespace

const RuleGroup kHyperbolicRules = {
    "hyperbolic",
    {
        {"aten.sinh.default", of_self<sinh>},
        {"aten.cosh.default", of_self<cosh>},
        {"aten.tan.default", of_self<tan>},
        {"aten.asinh.default", of_self<asinh>},
        {"aten.acosh.default", of_self<acosh>},
        {"aten.atanh.default", of_self<atanh>},
        {"aten.erfc.default", of_self<erfc>},
        {"aten.atan.default", of_self<atan>},
        {"aten.asin.default", of_self<asin>},
        {"aten.acos.default", of_self<acos>},
        {"aten.atan2.default", of_two<atan2>},
        {"aten.hypot.default", of_two<hypot>},
        {"aten.fmin.default", of_two<number_first<kFirstMin>>},
        {"aten.fmax.default", of_two<number_first<kFirstMax>>},
        {"aten.erfinv.default", of_self<erfinv>},
        {"aten.lgamma.default", of_self<lgamma>},
        {"aten.isinf.default", of_self<is_infinite>},
    },
};

}  // namespace solstice::importer
