// Elementwise operators of two or three tensors, or a tensor and a Python scalar.
#include <cmath>

#include "import/call/conversion.h"
#include "import/draft/value_range.h"
#include "import/rules.h"
#include "import/rules/complex.h"

namespace solstice::importer {
namespace {

Status combine(Call& call, const char* a_name, const char* b_name,
               const std::function<TermRef(const TermRef&, const TermRef&)>& f) {
  SOLSTICE_TRY(const DType dtype, call.out_dtype());
  SOLSTICE_TRY(Value a, operand(call, a_name, dtype));
  SOLSTICE_TRY(Value b, operand(call, b_name, dtype));
  a = promoted(call, std::move(a), dtype);
  b = promoted(call, std::move(b), dtype);
  return yield_pointwise(call, {a, b}, dtype, [&](const auto& t) { return f(t[0], t[1]); });
}

// Sums and products of booleans alone are booleans.
std::string operator_for(char op, DType dtype) {
  if (dtype != DType::kBool) return std::string(1, op);
  return op == '+' ? "or" : op == '*' ? "and" : std::string(1, op);
}

template <char Op>
Status arithmetic(Call& call) {
  if (yields_complex(call)) return complex_arithmetic(call, Op);
  SOLSTICE_TRY(const DType dtype, call.out_dtype());
  return combine(call, "self", "other",
                 [&](const TermRef& a, const TermRef& b) { return binary(operator_for(Op, dtype), a, b); });
}

// self + alpha*other, self - alpha*other
template <char Op>
Status with_alpha(Call& call) {
  if (yields_complex(call)) return complex_arithmetic(call, Op);
  SOLSTICE_TRY(const DType dtype, call.out_dtype());
  SOLSTICE_TRY(const TermRef alpha, call.scalar("alpha", dtype));
  SOLSTICE_TRY(const double factor, call.number("alpha"));
  return combine(call, "self", "other", [&](const TermRef& a, const TermRef& b) {
    return binary(operator_for(Op, dtype), a, factor == 1 ? b : alpha * b);
  });
}

// other - alpha*self
Status rsub(Call& call) {
  SOLSTICE_TRY(const DType dtype, call.out_dtype());
  SOLSTICE_TRY(const TermRef alpha, call.scalar("alpha", dtype));
  SOLSTICE_TRY(const double factor, call.number("alpha"));
  return combine(call, "self", "other",
                 [&](const TermRef& a, const TermRef& b) { return b - (factor == 1 ? a : alpha * a); });
}

// Of integers: exact, toward the lower number or toward zero. The language's `//` and `%` take literal divisors above
// 0.
struct WholeDivision {
  TermRef quotient, rest;
};

WholeDivision floored(const TermRef& a, const TermRef& b) {
  if (!is_number(*b) || b->kind != TermKind::kPrefix) return {binary("//", a, b), binary("%", a, b)};
  const TermRef by = b->args[0];
  const TermRef rest = binary("%", a, by);
  if (by->text == "1") return {negate(a), integer(0)};
  const TermRef uneven = binary("!=", rest, integer(0));
  return {negate(binary("//", a, by)) - uneven, select(uneven, rest - by, integer(0))};
}

WholeDivision truncated(const TermRef& a, const TermRef& b, DType dtype) {
  const TermRef quotient = apply(std::string(name_of(dtype)), {apply("trunc", {a / b})});
  return {quotient, a - quotient * b};
}

WholeDivision whole_division(const std::string& rounding, const TermRef& a, const TermRef& b, DType dtype) {
  return rounding == "floor" ? floored(a, b) : truncated(a, b, dtype);
}

// "floor" and "trunc" jump, so the operands are rounded as PyTorch stores them. It truncates the rounded quotient,
// while its floor is that of the exact one.
Status rounded_quotient(Call& call, const std::string& mode) {
  SOLSTICE_TRY(const DType dtype, call.out_dtype());
  SOLSTICE_TRY(const Value a, operand(call, "self", dtype));
  SOLSTICE_TRY(const Value b, operand(call, "other", dtype));
  if (!is_float(dtype) && b.term->text == "0") return call.unsupported("a division of integers by 0");
  return yield_pointwise(call, {a, b}, dtype, [&](const auto& t) {
    const TermRef x = as_stored(call, a, t[0]), by = as_stored(call, b, t[1]);
    if (!is_float(dtype)) return whole_division(mode, x, by, dtype).quotient;
    return mode == "floor" ? apply("floor_divide", {x, by}) : apply(mode, {as_marked(dtype, x / by)});
  });
}

Status div_mode(Call& call) {
  if (call.is_none("rounding_mode")) return arithmetic<'/'>(call);
  SOLSTICE_TRY(const std::string mode, call.text("rounding_mode"));
  return rounded_quotient(call, mode);
}

Status floor_divide(Call& call) { return rounded_quotient(call, "floor"); }

// What the quotient leaves: of "floor" with the divisor's sign, of "trunc" with the dividend's.
Status rest(Call& call, const char* function, const char* rounding) {
  SOLSTICE_TRY(const DType dtype, call.out_dtype());
  SOLSTICE_TRY(const Value a, operand(call, "self", dtype));
  SOLSTICE_TRY(const Value b, operand(call, "other", dtype));
  if (!is_float(dtype) && b.term->text == "0") return call.unsupported("a division of integers by 0");
  return yield_pointwise(call, {a, b}, dtype, [&](const auto& t) {
    const TermRef x = as_stored(call, a, t[0]), by = as_stored(call, b, t[1]);
    return is_float(dtype) ? apply(function, {x, by}) : whole_division(rounding, x, by, dtype).rest;
  });
}
Status remainder(Call& call) { return rest(call, "remainder", "floor"); }
Status fmod(Call& call) { return rest(call, "fmod", "trunc"); }

// The dtype in which PyTorch compares two tensors: a real with an integer as reals, a number without axes in the dtype
// of the other. Two of one sort keep their own, which are exact in the wider one.
void compare_alike(Call& call, Value& a, Value& b) {
  if (is_float(a.dtype) != is_float(b.dtype)) {
    Value& whole = is_float(a.dtype) ? b : a;
    const DType real = is_float(a.dtype) ? a.dtype : b.dtype;
    if (changes_values(call, whole, real)) whole = as_dtype(call, std::move(whole), real);
  } else if (is_float(a.dtype) && (a.rank() == 0) != (b.rank() == 0)) {
    Value& number = a.rank() == 0 ? a : b;
    const DType other = a.rank() == 0 ? b.dtype : a.dtype;
    if (!holds_all_of(other, number.dtype)) number = as_dtype(call, std::move(number), other);
  }
}

template <const char* Op>
Status compare(Call& call) {
  SOLSTICE_TRY(Value a, call.tensor("self"));
  SOLSTICE_TRY(Value b, operand(call, "other", a.dtype));
  if (call.argument("other").find("t")) compare_alike(call, a, b);
  return yield_pointwise(call, {a, b}, DType::kBool, [&](const auto& t) {
    return binary(Op, as_stored(call, a, t[0]), b.is_stored() ? as_stored(call, b, t[1]) : t[1]);
  });
}
constexpr char kEq[] = "==", kNe[] = "!=", kLt[] = "<", kLe[] = "<=", kGt[] = ">", kGe[] = ">=";

template <const char* F>
Status extremum(Call& call) {
  SOLSTICE_TRY(const DType dtype, call.out_dtype());
  return combine(call, "self", "other", [&](const TermRef& a, const TermRef& b) {
    if (dtype == DType::kBool) return binary(F == std::string("max") ? "or" : "and", a, b);
    return apply(F, {a, b});
  });
}
constexpr char kExtremumMin[] = "min", kExtremumMax[] = "max";

// x**0 is 1 for every x; 1/2 is a square root, as in PyTorch's kernels (so (-inf)**0.5 is NaN).
TermRef power(const TermRef& base, double exponent, const TermRef& text) {
  if (exponent == 0) return integer(1);
  if (exponent == 1) return base;
  if (exponent == 0.5) return apply("sqrt", {base});
  if (exponent == -0.5) return apply("rsqrt", {base});
  if (exponent == -1) return integer(1) / base;
  return binary("**", base, text);
}

Status pow_scalar(Call& call) {
  SOLSTICE_TRY(const DType dtype, call.out_dtype());
  SOLSTICE_TRY(const double exponent, call.number("exponent"));
  const TermRef text = rounded_scalar(exponent, dtype);
  return combine(call, "self", "exponent", [&](const TermRef& a, const TermRef&) { return power(a, exponent, text); });
}

// Of integers: below an exponent of 0 the fraction goes, and 0 stays 0.
TermRef whole_power(const Call& call, const TermRef& base, const TermRef& exponent, DType dtype) {
  const TermRef power = apply(std::string(name_of(dtype)), {binary("**", base, exponent)});
  const auto bounds = bounds_of(call.draft(), exponent);
  const bool is_number = base->kind == TermKind::kLiteral && base->text != "0";
  if (is_number || (bounds && bounds->low >= 0)) return power;
  const TermRef undefined = binary("and", binary("==", base, integer(0)), binary("<", exponent, integer(0)));
  return select(undefined, integer(0), power);
}

Status pow_tensor(Call& call) {
  SOLSTICE_TRY(const DType dtype, call.out_dtype());
  return combine(call, "self", "exponent", [&](const TermRef& a, const TermRef& b) {
    return is_float(dtype) ? binary("**", a, b) : whole_power(call, a, b, dtype);
  });
}

// |self| with the sign of the other. The language knows no sign of zero.
Status copysign(Call& call) {
  if (!call.argument("other").find("t")) {
    SOLSTICE_TRY(const double sign, call.number("other"));
    return combine(call, "self", "other", [&](const TermRef& a, const TermRef&) {
      const TermRef size = apply("abs", {a});
      return std::signbit(sign) ? negate(size) : size;
    });
  }
  SOLSTICE_TRY(const Value sign, call.tensor("other"));
  if (is_float(sign.dtype)) call.note("a zero counts as positive; PyTorch looks at its sign");
  return combine(call, "self", "other", [&](const TermRef& a, const TermRef& b) {
    const TermRef size = apply("abs", {a});
    return select(binary("<", sign.is_stored() ? as_stored(call, sign, b) : b, integer(0)), negate(size), size);
  });
}

// A tensor's value or a number that becomes an element of `dtype`.
Result<Value> filling(Call& call, const char* name, DType dtype) {
  if (call.argument(name).find("t")) {
    SOLSTICE_TRY(Value value, call.tensor(name));
    return as_dtype(call, std::move(value), dtype);
  }
  SOLSTICE_TRY(TermRef number, element_of(call, name, dtype));
  return Value{{}, std::move(number), dtype};
}

Status masked_fill(Call& call) {
  SOLSTICE_TRY(const DType dtype, call.out_dtype());
  SOLSTICE_TRY(const Value x, call.tensor("self"));
  SOLSTICE_TRY(const Value mask, call.tensor("mask"));
  SOLSTICE_TRY(const Value fill, filling(call, "value", dtype));
  return yield_pointwise(call, {x, mask, fill}, dtype, [](const auto& t) { return select(t[1], t[2], t[0]); });
}

Status where(Call& call) {
  SOLSTICE_TRY(const DType dtype, call.out_dtype());
  SOLSTICE_TRY(Value condition, call.tensor("condition"));
  SOLSTICE_TRY(const Value a, filling(call, "self", dtype));
  SOLSTICE_TRY(const Value b, filling(call, "other", dtype));
  condition = as_dtype(call, std::move(condition), DType::kBool);
  return yield_pointwise(call, {condition, a, b}, dtype, [](const auto& t) { return select(t[0], t[1], t[2]); });
}

Status clamp_tensor(Call& call) {
  SOLSTICE_TRY(const DType dtype, call.out_dtype());
  SOLSTICE_TRY(const Value x, call.tensor("self"));
  SOLSTICE_TRY(const std::optional<Value> low, call.maybe_tensor("min"));
  SOLSTICE_TRY(const std::optional<Value> high, call.maybe_tensor("max"));
  Operands operands{x};
  if (low) operands.push_back(*low);
  if (high) operands.push_back(*high);
  return yield_pointwise(call, operands, dtype, [&](const auto& t) {
    const TermRef lifted = low ? apply("max", {t[0], t[1]}) : t[0];
    return high ? apply("min", {lifted, t.back()}) : lifted;
  });
}

// self + value * a * b, self + value * a / b
template <char Op>
Status fused_product(Call& call) {
  SOLSTICE_TRY(const DType dtype, call.out_dtype());
  SOLSTICE_TRY(const Value x, call.tensor("self"));
  SOLSTICE_TRY(const Value a, call.tensor("tensor1"));
  SOLSTICE_TRY(const Value b, call.tensor("tensor2"));
  SOLSTICE_TRY(const TermRef factor, call.scalar("value", dtype));
  return yield_pointwise(call, {x, a, b}, dtype,
                         [&](const auto& t) { return t[0] + binary(std::string(1, Op), factor * t[1], t[2]); });
}

Status lerp(Call& call) {
  SOLSTICE_TRY(const DType dtype, call.out_dtype());
  SOLSTICE_TRY(const Value a, call.tensor("self"));
  SOLSTICE_TRY(const Value b, call.tensor("end"));
  SOLSTICE_TRY(const Value weight, operand(call, "weight", dtype));
  return yield_pointwise(call, {a, b, weight}, dtype, [](const auto& t) { return t[0] + t[2] * (t[1] - t[0]); });
}

// One slope for all, or one for each channel (axis 1).
Status prelu(Call& call) {
  SOLSTICE_TRY(const DType dtype, call.out_dtype());
  SOLSTICE_TRY(const Value x, call.tensor("self"));
  SOLSTICE_TRY(Value slope, call.tensor("weight"));
  if (slope.rank() == 1 && slope.extent(0) == 1) slope = {{}, read_at(slope, {Index(0)}, call.loops()), slope.dtype};
  for (int i = 2; slope.rank() >= 1 && i < x.rank(); ++i) slope.axes.push_back({});
  return yield_pointwise(call, {x, slope}, dtype, [](const auto& t) { return apply("leaky_relu", {t[0], t[1]}); });
}

}  // namespace

const RuleGroup kBinaryRules = {
    "binary",
    {
        {"aten.add.Tensor", with_alpha<'+'>},
        {"aten.add.Scalar", with_alpha<'+'>},
        {"aten.sub.Tensor", with_alpha<'-'>},
        {"aten.sub.Scalar", with_alpha<'-'>},
        {"aten.rsub.Tensor", rsub},
        {"aten.rsub.Scalar", rsub},
        {"aten.mul.Tensor", arithmetic<'*'>},
        {"aten.mul.Scalar", arithmetic<'*'>},
        {"aten.multiply.Tensor", arithmetic<'*'>},
        {"aten.div.Tensor", arithmetic<'/'>},
        {"aten.div.Scalar", arithmetic<'/'>},
        {"aten.true_divide.Tensor", arithmetic<'/'>},
        {"aten.div.Tensor_mode", div_mode},
        {"aten.floor_divide.default", floor_divide},
        {"aten.div.Scalar_mode", div_mode},
        {"aten.remainder.Scalar", remainder},
        {"aten.remainder.Tensor", remainder},
        {"aten.remainder.Scalar_Tensor", remainder},
        {"aten.fmod.Scalar", fmod},
        {"aten.fmod.Tensor", fmod},
        {"aten.pow.Tensor_Scalar", pow_scalar},
        {"aten.pow.Tensor_Tensor", pow_tensor},
        {"aten.pow.Scalar", pow_tensor},
        {"aten.eq.Scalar", compare<kEq>},
        {"aten.eq.Tensor", compare<kEq>},
        {"aten.ne.Scalar", compare<kNe>},
        {"aten.ne.Tensor", compare<kNe>},
        {"aten.lt.Scalar", compare<kLt>},
        {"aten.lt.Tensor", compare<kLt>},
        {"aten.le.Scalar", compare<kLe>},
        {"aten.le.Tensor", compare<kLe>},
        {"aten.gt.Scalar", compare<kGt>},
        {"aten.gt.Tensor", compare<kGt>},
        {"aten.ge.Scalar", compare<kGe>},
        {"aten.ge.Tensor", compare<kGe>},
        {"aten.min.other", extremum<kExtremumMin>},
        {"aten.minimum.default", extremum<kExtremumMin>},
        {"aten.max.other", extremum<kExtremumMax>},
        {"aten.maximum.default", extremum<kExtremumMax>},
        {"aten.copysign.Tensor", copysign},
        {"aten.copysign.Scalar", copysign},
        {"aten.masked_fill.Scalar", masked_fill},
        {"aten.masked_fill.Tensor", masked_fill},
        {"aten.where.self", where},
        {"aten.where.ScalarOther", where},
        {"aten.where.ScalarSelf", where},
        {"aten.where.Scalar", where},
        {"aten.clamp.Tensor", clamp_tensor},
        {"aten.addcmul.default", fused_product<'*'>},
        {"aten.addcdiv.default", fused_product<'/'>},
        {"aten.lerp.Scalar", lerp},
        {"aten.lerp.Tensor", lerp},
        {"aten.prelu.default", prelu},
    },
};

}  // namespace solstice::importer
