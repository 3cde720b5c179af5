// The operators of the language as C++ text.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "codegen/emitter.h"
#include "codegen/operators.h"

namespace solstice::codegen {
namespace {

using ir::Op;

constexpr int kLargestUnrolledPower = 8;

// -a; modulo 2^64 where that may not fit.
std::string negative_of(const std::string& a, Interval range) {
  return range == Interval{} ? fmt::format("wrapped_difference(0LL, {})", a) : "-" + a;
}

}  // namespace

Result<Value> Emitter::emit_node(const ir::ExprRef& e) {
  if (hook_) {
    SOLSTICE_TRY(std::optional<Value> given, hook_(*this, e));
    if (given) return *std::move(given);
  }
  switch (e->op) {
    case Op::kReal:
      return real_constant(e->real);
    case Op::kInt:
      return integer_constant(e->integer);
    case Op::kBool:
      return Value{CType::kBool, e->integer != 0 ? "true" : "false", 0, Interval::point(e->integer != 0), std::nullopt};
    case Op::kRead:
      return emit_read(*e);
    case Op::kSelect:
      return emit_select(*e);
    case Op::kCast:
      return emit_cast(*e);
    case Op::kPow:
      return emit_power(*e);
    case Op::kReduce:
    case Op::kRank:
      return fail(Code::not_yet, "a reduction or ranking that this family cannot place");
    default:
      break;
  }
  if (e->kind == ir::ValueKind::kInt) {
    if (const auto form = linear_form(indices_, e)) return evaluate(*form);
  }
  return emit_operator(e);
}

Result<Value> Emitter::emit_operator(const ir::ExprRef& e) {
  if (const auto division = whole_division_of(*e)) {
    SOLSTICE_TRY(const std::optional<Value> whole, emit_whole_division(*division, Zero::kInfinite));
    if (whole) return *whole;
  }
  if (e->args.size() == 1) {
    SOLSTICE_TRY(const Value a, emit(e->args[0]));
    return unary(*e, a);
  }
  if (const auto whole = one_plus_of(*e); whole && is_short(*e)) return emit_one_plus(*whole);
  if (e->args.size() != 2)
    return fail(Code::internal, fmt::format("operator `{}` with {} operands", ir::name_of(e->op), e->args.size()));
  SOLSTICE_TRY(Value a, emit(e->args[0]));
  SOLSTICE_TRY(Value b, emit(e->args[1]));
  return binary(*e, std::move(a), std::move(b));
}

Result<Value> Emitter::emit_one_plus(const OnePlus& e) {
  SOLSTICE_TRY(const Value x, emit(e.function->args[0]));
  const bool is_erf = e.function->op == Op::kErf;
  const bool twice = x.type == CType::kF64 && !x.constant;
  if (twice || x.is_constant()) {
    const Value f = unary(*e.function, x);
    return define(f.type, fmt::format("{} {} {}", literal(1.0, f.type), e.subtracts ? "-" : "+", f.text), {f});
  }
  const Value single = convert(x, CType::kF32);
  const std::string argument = e.subtracts ? "-" + single.text : single.text;
  return define(CType::kF32, fmt::format("short_one_plus_{}({})", is_erf ? "erf" : "tanh", argument), {single});
}

Value Emitter::unary(const ir::Expr& e, const Value& a) {
  if (e.op == Op::kNot) {
    const Value test = convert(a, CType::kBool);
    return define(CType::kBool, "!" + test.text, {test}, {0, 1});
  }
  if (e.op == Op::kNeg && constant_of(a) && is_real(a.type)) return real_constant(-*a.constant);
  if (e.op == Op::kNeg && !is_real(a.type)) {
    const Interval range = Interval::point(0) - a.range;
    const CType type = range.fits_int() && a.range.fits_int() ? CType::kI32 : CType::kI64;
    const Value wide = convert(a, type);
    return define(type, negative_of(wide.text, range), {wide}, range);
  }
  if (e.op == Op::kNeg) return define(a.type, "-" + a.text, {a});
  if (!is_real(a.type) && is_rounding(e.op)) return a;
  if (!is_real(a.type) && (e.op == Op::kAbs || e.op == Op::kSign)) {
    const Interval negative = Interval::point(0) - a.range;
    const Interval range = e.op == Op::kSign        ? Interval{-1, 1}
                           : negative == Interval{} ? negative
                                                    : Interval{0, std::max(a.range.hi, negative.hi)};
    const Value wide = convert(a, range.fits_int() && a.range.fits_int() ? CType::kI32 : CType::kI64);
    const std::string text = e.op == Op::kSign
                                 ? fmt::format("sign({})", wide.text)
                                 : fmt::format("{0} < 0 ? {1} : {0}", wide.text, negative_of(wide.text, negative));
    return define(wide.type, text, {wide}, range);
  }
  if (const auto value = fold(e.op, a)) return real_constant(*value);
  const Value x = convert(a, a.type == CType::kF64 ? CType::kF64 : CType::kF32);
  if (e.op == Op::kIsNan || e.op == Op::kIsFinite) {
    return define(CType::kBool, fmt::format("{}({})", e.op == Op::kIsNan ? "is_nan" : "is_finite", x.text), {x},
                  {0, 1});
  }
  const char* brief = is_short(e) && x.type == CType::kF32 ? short_function_of(e.op) : nullptr;
  const char* function = brief ? brief : e.op == Op::kAbs ? "absolute" : e.op == Op::kSign ? "sign" : function_of(e.op);
  const Value real = define(x.type, fmt::format("{}({})", function, x.text), {x});
  if (!is_rounding(e.op) || e.kind != ir::ValueKind::kInt) return real;
  return define(CType::kI64, fmt::format("to_integer({})", real.text), {real});
}

Value Emitter::binary(const ir::Expr& e, Value a, Value b) {
  if (e.op == Op::kFloorDiv || e.op == Op::kMod) return integer_division(e.op, std::move(a), std::move(b));
  if (const auto value = fold(e.op, a, b); value && e.kind == ir::ValueKind::kReal) return real_constant(*value);
  if (e.op == Op::kDiv) return quotient(e, std::move(a), std::move(b));
  if (e.op >= Op::kFmod && e.op <= Op::kFloorDivide) return real_division(e, a, b);
  if (e.op == Op::kAnd || e.op == Op::kOr) {
    a = convert(a, CType::kBool);
    b = convert(b, CType::kBool);
    return define(CType::kBool, fmt::format("{} {} {}", a.text, symbol_of(e.op), b.text), {a, b}, {0, 1});
  }
  if (e.op == Op::kAtan2) return angle(std::move(a), std::move(b));
  CType type = common_type(a, b);
  const Interval range = is_real(type) ? Interval{} : integer_range(e.op, a.range, b.range);
  if (e.op == Op::kBitAnd && type == CType::kBool) type = CType::kI32;
  if (!is_real(type) && !is_comparison(e.op) && !range.fits_int()) type = CType::kI64;
  a = convert(a, type);
  b = convert(b, type);
  if (e.op == Op::kMin || e.op == Op::kMax) {
    return define(type, fmt::format("{}({}, {})", e.op == Op::kMin ? "minimum" : "maximum", a.text, b.text), {a, b},
                  range);
  }
  if (const char* wrapped = type == CType::kI64 && range == Interval{} ? wrapped_function_of(e.op) : nullptr)
    return define(type, fmt::format("{}({}, {})", wrapped, a.text, b.text), {a, b});
  const CType result = is_comparison(e.op) ? CType::kBool : type;
  return define(result, fmt::format("{} {} {}", a.text, symbol_of(e.op), b.text), {a, b}, range);
}

Value Emitter::angle(Value a, Value b) {
  const CType type = common_type(a, b) == CType::kF64 ? CType::kF64 : CType::kF32;
  a = convert(a, type);
  b = convert(b, type);
  return define(type, fmt::format("math::angle({}, {})", a.text, b.text), {a, b});
}

Result<Value> Emitter::emit_select(const ir::Expr& e) {
  SOLSTICE_TRY(Value test, emit(e.args[0]));
  SOLSTICE_TRY(Value yes, emit(e.args[1]));
  SOLSTICE_TRY(Value no, emit(e.args[2]));
  CType type = CType::kBool;
  if (yes.type != CType::kBool || no.type != CType::kBool) type = common_type(yes, no);
  yes = convert(yes, type);
  no = convert(no, type);
  test = convert(test, CType::kBool);
  return define(type, fmt::format("{} ? {} : {}", test.text, yes.text, no.text), {test, yes, no},
                join(yes.range, no.range));
}

// i64(a ** b) of integers is exact, whatever the exponent.
Result<Value> Emitter::emit_whole_power(const ir::Expr& power) {
  SOLSTICE_TRY(Value base, emit(power.args[0]));
  SOLSTICE_TRY(Value exponent, emit(power.args[1]));
  base = convert(base, CType::kI64);
  exponent = convert(exponent, CType::kI64);
  return define(CType::kI64, fmt::format("whole_power({}, {})", base.text, exponent.text), {base, exponent});
}

Result<Value> Emitter::emit_cast(const ir::Expr& e) {
  const ir::Expr& operand = *e.args[0];
  const bool whole = is_integer(e.dtype) && operand.op == Op::kPow && operand.args[0]->kind != ir::ValueKind::kReal &&
                     operand.args[1]->kind != ir::ValueKind::kReal;
  SOLSTICE_TRY(Value a, whole ? emit_whole_power(operand) : emit_cast_operand(e));
  const CType type = computing_type(e.dtype);
  if (e.dtype == DType::kF64 || (e.dtype == DType::kF32 && a.type != CType::kF64)) return convert(a, type);
  if (a.type == CType::kBool && type != CType::kBool) return convert(a, type);
  const Value source = is_real(type) && a.type != CType::kF64 ? convert(a, CType::kF32) : a;
  return define(type, fmt::format("rounded<{}>({})", storage_type(e.dtype), source.text), {source}, values_of(e.dtype));
}

Result<Value> Emitter::emit_power(const ir::Expr& e) {
  SOLSTICE_TRY(Value base, emit(e.args[0]));
  SOLSTICE_TRY(Value exponent, emit(e.args[1]));
  if (const auto value = fold(Op::kPow, base, exponent)) {
    if (e.kind == ir::ValueKind::kReal) return real_constant(*value);
    if (std::abs(*value) < 9e15) return integer_constant(static_cast<int64_t>(*value));
  }
  const auto power = constant_of(exponent);
  const bool whole = power && *power == std::floor(*power) && *power >= 1 && *power <= kLargestUnrolledPower;
  const CType type = e.kind == ir::ValueKind::kInt                ? CType::kI64
                     : common_type(base, exponent) == CType::kF64 ? CType::kF64
                                                                  : CType::kF32;
  base = convert(base, type);
  if (whole) {
    Value product = base;
    for (int i = 1; i < static_cast<int>(*power); ++i)
      product = is_real(type)
                    ? define(type, fmt::format("{} * {}", product.text, base.text), {product, base})
                    : define(type, fmt::format("wrapped_product({}, {})", product.text, base.text), {product, base});
    return product;
  }
  if (!is_real(type)) return emit_whole_power(e);
  if (power == 0.5) return define(type, fmt::format("math::sqrt({})", base.text), {base});
  if (power == -0.5) return define(type, fmt::format("math::rsqrt({})", base.text), {base});
  if (power == -1.0) return define(type, fmt::format("{} / {}", literal(1.0, type), base.text), {base});
  exponent = convert(exponent, type);
  return define(type, fmt::format("power({}, {})", base.text, exponent.text), {base, exponent});
}

}  // namespace solstice::codegen
