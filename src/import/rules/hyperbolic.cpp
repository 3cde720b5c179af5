// Functions of one tensor that the language has no word for, by those it has, finite where PyTorch's are. Differences
// are taken where nothing cancels, but for erfc of large x. Inverse trigonometric functions have no such form.
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
        {"aten.isinf.default", of_self<is_infinite>},
    },
};

}  // namespace solstice::importer
