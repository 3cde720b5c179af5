// The operators of the language as C++ text.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "codegen/emitter.h"

namespace solstice::codegen {
namespace {

using ir::Op;

constexpr int kLargestUnrolledPower = 8;

const char* function_of(Op op) {
  switch (op) {
    case Op::kExp:
      return "exponential";
    case Op::kExpm1:
      return "math::expm1";
    case Op::kLog:
      return "math::log";
    case Op::kLog1p:
      return "math::log1p";
    case Op::kSqrt:
      return "math::sqrt";
    case Op::kRsqrt:
      return "math::rsqrt";
    case Op::kTanh:
      return "math::tanh";
    case Op::kErf:
      return "math::erf";
    case Op::kSin:
      return "math::sin";
    case Op::kCos:
      return "math::cos";
    case Op::kFloor:
      return "math::floor";
    case Op::kCeil:
      return "math::ceil";
    case Op::kRound:
      return "math::round";
    case Op::kTrunc:
      return "math::trunc";
    default:
      return nullptr;
  }
}

// Of values of which few digits are wanted; none: there is no shorter form.
const char* short_function_of(Op op) {
  switch (op) {
    case Op::kExp:
      return "short_exponential";
    case Op::kSqrt:
      return "short_sqrt";
    case Op::kTanh:
      return "short_tanh";
    default:
      return nullptr;
  }
}

const char* symbol_of(Op op) {
  switch (op) {
    case Op::kAdd:
      return "+";
    case Op::kSub:
      return "-";
    case Op::kMul:
      return "*";
    case Op::kLt:
      return "<";
    case Op::kLe:
      return "<=";
    case Op::kEq:
      return "==";
    case Op::kNe:
      return "!=";
    case Op::kGe:
      return ">=";
    case Op::kGt:
      return ">";
    case Op::kAnd:
      return "&&";
    case Op::kOr:
      return "||";
    default:
      return nullptr;
  }
}

bool is_comparison(Op op) { return op >= Op::kLt && op <= Op::kGt; }
bool is_rounding(Op op) { return op >= Op::kFloor && op <= Op::kTrunc; }

std::optional<double> constant_of(const Value& v) {
  if (v.constant) return v.constant;
  if (!is_real(v.type) && v.range.lo == v.range.hi) return static_cast<double>(v.range.lo);
  return std::nullopt;
}

// Constants are folded in double and rounded where they are used.
std::optional<double> folded(Op op, const Value& a, const Value& b) {
  const auto x = constant_of(a), y = constant_of(b);
  if (!x || !y) return std::nullopt;
  switch (op) {
    case Op::kAdd:
      return *x + *y;
    case Op::kSub:
      return *x - *y;
    case Op::kMul:
      return *x * *y;
    case Op::kDiv:
      return *x / *y;
    case Op::kPow:
      return std::pow(*x, *y);
    case Op::kMin:
      return std::min(*x, *y);
    case Op::kMax:
      return std::max(*x, *y);
    default:
      return std::nullopt;
  }
}

std::optional<double> folded(Op op, const Value& a) {
  const auto x = constant_of(a);
  if (!x) return std::nullopt;
  switch (op) {
    case Op::kAbs:
      return std::abs(*x);
    case Op::kExp:
      return std::exp(*x);
    case Op::kExpm1:
      return std::expm1(*x);
    case Op::kLog:
      return std::log(*x);
    case Op::kLog1p:
      return std::log1p(*x);
    case Op::kSqrt:
      return std::sqrt(*x);
    case Op::kRsqrt:
      return 1 / std::sqrt(*x);
    case Op::kTanh:
      return std::tanh(*x);
    case Op::kErf:
      return std::erf(*x);
    case Op::kSin:
      return std::sin(*x);
    case Op::kCos:
      return std::cos(*x);
    default:
      return std::nullopt;
  }
}

// a / by as products with the inverse: exact for a power of two; else rounded once more (2^-24), or with the inverse in
// two floats, both of its sign so that no infinities meet. Nothing: a division it stays, since the inverse has too few
// digits.
std::optional<std::string> times_inverse(const std::string& a, float by, bool few_digits) {
  int exponent = 0;
  const float fraction = std::abs(std::frexp(by, &exponent));
  if (!(std::abs(by) > 0x1p-90f && std::abs(by) < 0x1p90f)) return std::nullopt;
  const double inverse = 1.0 / static_cast<double>(by);
  const auto near = static_cast<float>(inverse);
  if (fraction == 0.5f || few_digits) return fmt::format("{} * {}", a, literal(near, CType::kF32));
  const float high = std::abs(static_cast<double>(near)) > std::abs(inverse) ? std::nextafter(near, 0.0f) : near;
  const double low = inverse - static_cast<double>(high);
  return fmt::format("fused({0}, {1}, {0} * {2})", a, literal(high, CType::kF32), literal(low, CType::kF32));
}

Value real_constant(double value) { return {CType::kF32, literal(value, CType::kF32), 0, {}, value}; }

Value integer_constant(int64_t value) {
  const Interval range = Interval::point(value);
  const CType type = range.fits_int() ? CType::kI32 : CType::kI64;
  return {type, literal(value, type), 0, range, std::nullopt};
}

Interval integer_range(Op op, Interval a, Interval b) {
  switch (op) {
    case Op::kAdd:
      return a + b;
    case Op::kSub:
      return a - b;
    case Op::kMul:
      return a * b;
    case Op::kMin:
      return {std::min(a.lo, b.lo), std::min(a.hi, b.hi)};
    case Op::kMax:
      return {std::max(a.lo, b.lo), std::max(a.hi, b.hi)};
    default:
      return {0, 1};
  }
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
    return define(f.type, fmt::format("{} {} {}", literal(1.0, f.type), e.subtracts ? "-" : "+", f.text), f.depth);
  }
  const Value single = convert(x, CType::kF32);
  const std::string argument = e.subtracts ? "-" + single.text : single.text;
  return define(CType::kF32, fmt::format("short_one_plus_{}({})", is_erf ? "erf" : "tanh", argument), single.depth);
}

Value Emitter::unary(const ir::Expr& e, const Value& a) {
  if (e.op == Op::kNot) return define(CType::kBool, "!" + convert(a, CType::kBool).text, a.depth, {0, 1});
  if (e.op == Op::kNeg && constant_of(a) && is_real(a.type)) return real_constant(-*a.constant);
  if (e.op == Op::kNeg && !is_real(a.type)) {
    const Interval range = Interval::point(0) - a.range;
    const CType type = range.fits_int() && a.range.fits_int() ? CType::kI32 : CType::kI64;
    return define(type, "-" + convert(a, type).text, a.depth, range);
  }
  if (e.op == Op::kNeg) return define(a.type, "-" + a.text, a.depth);
  if (!is_real(a.type) && is_rounding(e.op)) return a;
  if (!is_real(a.type) && (e.op == Op::kAbs || e.op == Op::kSign)) {
    const Interval range =
        e.op == Op::kSign ? Interval{-1, 1} : Interval{0, std::max(a.range.hi, (Interval::point(0) - a.range).hi)};
    const Value wide = convert(a, a.type == CType::kBool ? CType::kI32 : a.type);
    const std::string text =
        e.op == Op::kSign ? fmt::format("sign({})", wide.text) : fmt::format("{0} < 0 ? -{0} : {0}", wide.text);
    return define(wide.type, text, a.depth, range);
  }
  if (const auto value = folded(e.op, a)) return real_constant(*value);
  const Value x = convert(a, a.type == CType::kF64 ? CType::kF64 : CType::kF32);
  if (e.op == Op::kIsNan || e.op == Op::kIsFinite) {
    return define(CType::kBool, fmt::format("{}({})", e.op == Op::kIsNan ? "is_nan" : "is_finite", x.text), x.depth,
                  {0, 1});
  }
  const char* brief = is_short(e) && x.type == CType::kF32 ? short_function_of(e.op) : nullptr;
  const char* function = brief ? brief : e.op == Op::kAbs ? "absolute" : e.op == Op::kSign ? "sign" : function_of(e.op);
  const Value real = define(x.type, fmt::format("{}({})", function, x.text), x.depth);
  if (!is_rounding(e.op) || e.kind != ir::ValueKind::kInt) return real;
  return define(CType::kI64, fmt::format("to_integer({})", real.text), real.depth);
}

Value Emitter::binary(const ir::Expr& e, Value a, Value b) {
  const int depth = std::max(a.depth, b.depth);
  if (e.op == Op::kFloorDiv || e.op == Op::kMod) return integer_division(e, std::move(a), std::move(b));
  if (const auto value = folded(e.op, a, b); value && e.kind == ir::ValueKind::kReal) return real_constant(*value);
  if (e.op == Op::kDiv) return quotient(e, std::move(a), std::move(b));
  if (e.op == Op::kAnd || e.op == Op::kOr) {
    return define(
        CType::kBool,
        fmt::format("{} {} {}", convert(a, CType::kBool).text, symbol_of(e.op), convert(b, CType::kBool).text), depth,
        {0, 1});
  }
  CType type = common(a, b);
  const Interval range = is_real(type) ? Interval{} : integer_range(e.op, a.range, b.range);
  if (!is_real(type) && !is_comparison(e.op) && !range.fits_int()) type = CType::kI64;
  a = convert(a, type);
  b = convert(b, type);
  if (e.op == Op::kMin || e.op == Op::kMax) {
    return define(type, fmt::format("{}({}, {})", e.op == Op::kMin ? "minimum" : "maximum", a.text, b.text), depth,
                  range);
  }
  const CType result = is_comparison(e.op) ? CType::kBool : type;
  return define(result, fmt::format("{} {} {}", a.text, symbol_of(e.op), b.text), depth, range);
}

// A divisor from an outer scope is inverted there once, a constant here.
Value Emitter::quotient(const ir::Expr& e, Value a, Value b) {
  const CType type = is_real(a.type) || is_real(b.type) ? common(a, b) : CType::kF32;
  const int depth = std::max(a.depth, b.depth);
  a = convert(a, type);
  const bool shared = type == CType::kF32 && !b.constant && b.depth < a.depth;
  if (const auto by = constant_of(b); by && type == CType::kF32) {
    if (const auto text = times_inverse(a.text, static_cast<float>(*by), is_short(e)))
      return define(type, *text, depth);
  }
  b = convert(b, type);
  if (!shared && is_short(e) && type == CType::kF32)
    return define(type, fmt::format("short_quotient({}, {})", a.text, b.text), depth);
  if (!shared) return define(type, fmt::format("{} / {}", a.text, b.text), depth);
  const std::string key = "Divisor " + b.text;
  auto& known = scopes_[static_cast<size_t>(b.depth)].known;
  auto inverted = known.find(key);
  if (inverted == known.end()) {
    const Value name = variable(type, fmt::format("v{}", next_++), b.depth);
    statement(b.depth, fmt::format("const Divisor {} = divisor({});", name.text, b.text));
    inverted = known.emplace(key, name).first;
  }
  return define(type, fmt::format("divide({}, {})", a.text, inverted->second.text), depth);
}

Value Emitter::integer_division(const ir::Expr& e, Value a, Value b) {
  const int depth = std::max(a.depth, b.depth);
  const CType type = a.range.fits_int() && b.range.fits_int() ? CType::kI32 : CType::kI64;
  const bool by_constant = b.range.lo == b.range.hi && b.range.lo > 0;
  const bool modulo = e.op == Op::kMod;
  const Interval range = !by_constant ? Interval{}
                         : modulo     ? floor_mod(a.range, b.range.lo)
                                      : floor_div(a.range, b.range.lo);
  const CType result = by_constant ? type : CType::kI64;
  a = convert(a, result);
  b = convert(b, result);
  if (a.range.lo >= 0 && by_constant) {
    // Unsigned division by a constant is a multiplication without corrections.
    const std::string_view as = result == CType::kI32 ? "unsigned" : "unsigned long long";
    return define(result,
                  fmt::format("static_cast<{}>(static_cast<{}>({}) {} {})", name_of(result), as, a.text,
                              modulo ? "%" : "/", b.range.lo),
                  depth, range);
  }
  return define(result, fmt::format("{}({}, {})", modulo ? "floor_mod" : "floor_div", a.text, b.text), depth, range);
}

Result<Value> Emitter::emit_select(const ir::Expr& e) {
  SOLSTICE_TRY(const Value test, emit(e.args[0]));
  SOLSTICE_TRY(Value yes, emit(e.args[1]));
  SOLSTICE_TRY(Value no, emit(e.args[2]));
  CType type = CType::kBool;
  if (yes.type != CType::kBool || no.type != CType::kBool) type = common(yes, no);
  yes = convert(yes, type);
  no = convert(no, type);
  const int depth = std::max({test.depth, yes.depth, no.depth});
  return define(type, fmt::format("{} ? {} : {}", convert(test, CType::kBool).text, yes.text, no.text), depth,
                join(yes.range, no.range));
}

Result<Value> Emitter::emit_cast(const ir::Expr& e) {
  SOLSTICE_TRY(Value a, emit(e.args[0]));
  const CType type = computing_type(e.dtype);
  if (e.dtype == DType::kF64 || (e.dtype == DType::kF32 && a.type != CType::kF64)) return convert(a, type);
  if (a.type == CType::kBool && type != CType::kBool) return convert(a, type);
  const Value source = is_real(type) && a.type != CType::kF64 ? convert(a, CType::kF32) : a;
  return define(type, fmt::format("rounded<{}>({})", storage_type(e.dtype), source.text), a.depth, values_of(e.dtype));
}

Result<Value> Emitter::emit_power(const ir::Expr& e) {
  SOLSTICE_TRY(Value base, emit(e.args[0]));
  SOLSTICE_TRY(Value exponent, emit(e.args[1]));
  const int depth = std::max(base.depth, exponent.depth);
  if (const auto value = folded(Op::kPow, base, exponent)) {
    if (e.kind == ir::ValueKind::kReal) return real_constant(*value);
    if (std::abs(*value) < 9e15) return integer_constant(static_cast<int64_t>(*value));
  }
  const auto power = constant_of(exponent);
  const bool whole = power && *power == std::floor(*power) && *power >= 1 && *power <= kLargestUnrolledPower;
  const CType type = e.kind == ir::ValueKind::kInt           ? CType::kI64
                     : common(base, exponent) == CType::kF64 ? CType::kF64
                                                             : CType::kF32;
  base = convert(base, type);
  if (whole) {
    Value product = base;
    for (int i = 1; i < static_cast<int>(*power); ++i)
      product = define(type, fmt::format("{} * {}", product.text, base.text), depth);
    return product;
  }
  if (!is_real(type)) return fail(Code::not_yet, "an integer power with an exponent that is not a small constant");
  if (power == 0.5) return define(type, fmt::format("math::sqrt({})", base.text), depth);
  if (power == -0.5) return define(type, fmt::format("math::rsqrt({})", base.text), depth);
  if (power == -1.0) return define(type, fmt::format("{} / {}", literal(1.0, type), base.text), depth);
  return define(type, fmt::format("power({}, {})", base.text, convert(exponent, type).text), depth);
}

}  // namespace solstice::codegen
