// Divisions as C++ text: of integers exact, of reals by a product where the inverse of the divisor is known.
#include <fmt/format.h>

#include <cmath>

#include "codegen/emitter.h"
#include "codegen/operators.h"

namespace solstice::codegen {
namespace {

using ir::Op;

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

const char* whole_function_of(Op op) {
  switch (op) {
    case Op::kMod:
      return "floor_mod";
    case Op::kTrunc:
      return "trunc_div";
    case Op::kCeil:
      return "ceiling_div";
    default:
      return "floor_div";
  }
}

Interval range_of(Op op, Interval a, Interval b) {
  if (op == Op::kMod) return floor_mod(a, b);
  const Interval below = floor_div(a, b);
  return op == Op::kTrunc || op == Op::kCeil ? below + Interval{0, 1} : below;
}

bool is_whole_quotient(const ir::Expr& e) {
  return e.op == Op::kDiv && e.args[0]->kind != ir::ValueKind::kReal && e.args[1]->kind != ir::ValueKind::kReal;
}

}  // namespace

std::optional<WholeDivision> whole_division_of(const ir::Expr& e) {
  const bool rounds = e.op == Op::kFloor || e.op == Op::kCeil || e.op == Op::kTrunc;
  if (!rounds || !is_whole_quotient(*e.args[0])) return std::nullopt;
  return WholeDivision{e.op, e.args[0]->args[0], e.args[0]->args[1]};
}

// A divisor from an outer scope is inverted there once, a constant here.
Value Emitter::quotient(const ir::Expr& e, Value a, Value b) {
  const CType type = is_real(a.type) || is_real(b.type) ? common_type(a, b) : CType::kF32;
  a = convert(a, type);
  const bool shared = type == CType::kF32 && !b.constant && b.depth < a.depth;
  if (const auto by = constant_of(b); by && type == CType::kF32) {
    if (const auto text = times_inverse(a.text, static_cast<float>(*by), is_short(e))) return define(type, *text, {a});
  }
  b = convert(b, type);
  if (!shared && is_short(e) && type == CType::kF32)
    return define(type, fmt::format("short_quotient({}, {})", a.text, b.text), {a, b});
  if (!shared) return define(type, fmt::format("{} / {}", a.text, b.text), {a, b});
  const std::string key = "Divisor " + b.text;
  auto& known = scopes_[static_cast<size_t>(b.depth)].known;
  auto inverted = known.find(key);
  if (inverted == known.end()) {
    const Value name = variable(type, fmt::format("v{}", next_++), b.depth);
    add_definition("Divisor", name, fmt::format("divisor({})", b.text), {b});
    inverted = known.emplace(key, name).first;
  }
  return define(type, fmt::format("divide({}, {})", a.text, inverted->second.text), {a, inverted->second});
}

Value Emitter::real_division(const ir::Expr& e, const Value& a, const Value& b) {
  const CType type = is_real(a.type) || is_real(b.type) ? common_type(a, b) : CType::kF32;
  const Value x = convert(a, type), y = convert(b, type);
  return define(type, fmt::format("math::{}({}, {})", ir::name_of(e.op), x.text, y.text), {x, y});
}

Value Emitter::integer_division(Op op, Value a, Value b) {
  const CType type = a.range.fits_int() && b.range.fits_int() ? CType::kI32 : CType::kI64;
  const Interval range = range_of(op, a.range, b.range);
  a = convert(a, type);
  b = convert(b, type);
  if (a.range.lo >= 0 && b.range.lo > 0 && op != Op::kCeil) {
    // Unsigned division by a constant is a multiplication without corrections.
    const std::string_view as = type == CType::kI32 ? "unsigned" : "unsigned long long";
    const std::string by =
        b.is_constant() ? fmt::format("{}", b.range.lo) : fmt::format("static_cast<{}>({})", as, b.text);
    return define(type,
                  fmt::format("static_cast<{}>(static_cast<{}>({}) {} {})", name_of(type), as, a.text,
                              op == Op::kMod ? "%" : "/", by),
                  {a, b}, range);
  }
  const bool wide = type == CType::kI32 && !range.fits_int();
  return define(wide ? CType::kI64 : type,
                fmt::format("{}{}({}, {})", whole_function_of(op), wide ? "_wide" : "", a.text, b.text), {a, b}, range);
}

Result<std::optional<Value>> Emitter::emit_whole_division(const WholeDivision& division, Zero zero) {
  const Interval by = interval_of(indices_, program_, division.divisor);
  if (zero == Zero::kInfinite && by.lo <= 0 && by.hi >= 0) return std::optional<Value>();
  SOLSTICE_TRY(Value a, emit(division.dividend));
  SOLSTICE_TRY(Value b, emit(division.divisor));
  return std::optional(integer_division(division.op, std::move(a), std::move(b)));
}

// A cast to integers sees the exact quotient of integers; one to f32 the one that is rounded once.
Result<Value> Emitter::emit_cast_operand(const ir::Expr& cast) {
  const ir::ExprRef& operand = cast.args[0];
  if (is_integer(cast.dtype)) {
    std::optional<WholeDivision> division = whole_division_of(*operand);
    if (is_whole_quotient(*operand)) division = WholeDivision{Op::kTrunc, operand->args[0], operand->args[1]};
    if (division) {
      SOLSTICE_TRY(const std::optional<Value> whole, emit_whole_division(*division, Zero::kStops));
      return *whole;
    }
  }
  if (cast.dtype != DType::kF32 || operand->op != Op::kDiv) return emit(operand);
  SOLSTICE_TRY(Value a, emit(operand->args[0]));
  SOLSTICE_TRY(Value b, emit(operand->args[1]));
  if (common_type(a, b) == CType::kF64 || (a.is_constant() && b.is_constant())) return emit(operand);
  a = convert(a, CType::kF32);
  b = convert(b, CType::kF32);
  return define(CType::kF32, fmt::format("{} / {}", a.text, b.text), {a, b});
}

}  // namespace solstice::codegen
