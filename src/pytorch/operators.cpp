// Operators and functions on values.
#include <fmt/format.h>

#include <algorithm>

#include "pytorch/expression.h"
#include "pytorch/functions.h"

namespace solstice::pytorch {
namespace {

using ir::Expr;
using ir::ExprRef;
using ir::Op;
using ir::ValueKind;

// PyTorch's functions of one number that have the language's names.
bool has_function(Op op) {
  switch (op) {
    case Op::kExp:
    case Op::kExpm1:
    case Op::kLog:
    case Op::kLog1p:
    case Op::kSqrt:
    case Op::kRsqrt:
    case Op::kTanh:
    case Op::kErf:
    case Op::kSin:
    case Op::kCos:
    case Op::kAbs:
    case Op::kSign:
    case Op::kIsNan:
    case Op::kIsFinite:
    case Op::kErfInv:
    case Op::kLgamma:
      return true;
    default:
      return false;
  }
}

std::string function_name(Op op) {
  if (op == Op::kMin) return "torch.minimum";
  if (op == Op::kMax) return "torch.maximum";
  if (op == Op::kBitAnd) return "torch.bitwise_and";
  return fmt::format("torch.{}", ir::name_of(op));
}

const char* comparison(Op op) {
  switch (op) {
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
    default:
      return ">";
  }
}

}  // namespace

Result<Value> Writer::arithmetic(const Expr& e) {
  switch (e.op) {
    case Op::kLt:
    case Op::kLe:
    case Op::kEq:
    case Op::kNe:
    case Op::kGe:
    case Op::kGt:
      return compare(e);
    case Op::kAdd:
    case Op::kSub:
    case Op::kMul:
    case Op::kDiv:
      return binary(e);
    case Op::kPow:
      return power(e);
    case Op::kFloorDiv:
    case Op::kMod:
      return whole_division(e);
    case Op::kFloor:
    case Op::kCeil:
    case Op::kRound:
    case Op::kTrunc:
      return rounded(e);
    case Op::kMin:
    case Op::kMax:
    case Op::kFmod:
    case Op::kRemainder:
    case Op::kFloorDivide:
    case Op::kAtan2:
    case Op::kBitAnd:
      return call_of_two(e);
    default:
      return unary(e);
  }
}

Result<Value> Writer::unary(const Expr& e) {
  SOLSTICE_TRY(Value v, write(e.args[0]));
  const bool question = e.op == Op::kIsNan || e.op == Op::kIsFinite;
  v = named(of_kind(v, question ? ValueKind::kReal : e.kind));
  if (has_function(e.op)) return called(function_name(e.op), v, e.kind);
  if (e.op != Op::kNeg) return refusal(fmt::format("`{}` has no operator", ir::name_of(e.op)));
  v.text = "-" + v.at(kUnary);
  v.level = kUnary;
  v.view = false;
  return v;
}

Result<Value> Writer::binary(const Expr& e) {
  SOLSTICE_TRY(const Value a, write(e.args[0]));
  SOLSTICE_TRY(const Value b, write(e.args[1]));
  const ValueKind kind = e.kind;
  const bool sum = e.op == Op::kAdd || e.op == Op::kSub;
  const char* const op = e.op == Op::kAdd ? "+" : e.op == Op::kSub ? "-" : e.op == Op::kMul ? "*" : "/";
  Value x = of_kind(a, kind), y = of_kind(b, kind);
  if (e.op == Op::kDiv && x.host && y.host) x = tensor_of(x);  // Python raises where it divides by 0
  return joined(x, op, y, sum ? kSum : kProduct, kind);
}

Result<Value> Writer::power(const Expr& e) {
  SOLSTICE_TRY(const Value a, write(e.args[0]));
  SOLSTICE_TRY(Value b, write(e.args[1]));
  Value x = of_kind(a, e.kind);
  if (!b.host) b = of_kind(b, e.kind);
  if (x.host && e.kind == ValueKind::kReal) x = tensor_of(x);
  Value out = joined(x, "**", b, kPower, e.kind);
  const auto side = [&](const Value& v) {
    const std::string text = aligned(v, out.axes);
    return text == v.text ? v.at(kAtom) : text;
  };
  out.text = fmt::format("{} ** {}", side(named(x)), side(named(b)));
  return out;
}

// A divisor that is 0 is one that no condition wants.
Result<Value> Writer::whole_division(const Expr& e) {
  SOLSTICE_TRY(const Value a, write(e.args[0]));
  SOLSTICE_TRY(const Value b, write(e.args[1]));
  Value x = of_kind(a, ValueKind::kInt), y = of_kind(b, ValueKind::kInt);
  if (!y.host && guards_ > 0) {
    y = named(y);
    Value zero = y;
    zero.text = fmt::format("{} == 0", y.at(kCompare + 1));
    zero.level = kCompare;
    zero.kind = ValueKind::kBool;
    zero.dtype = DType::kBool;
    Value one;
    one.text = "1";
    one.host = true;
    one.kind = ValueKind::kInt;
    y = where(zero, one, y);
  }
  return joined(x, e.op == Op::kMod ? "%" : "//", y, kProduct, ValueKind::kInt);
}

// Of a quotient of integers exactly.
Result<Value> Writer::rounded(const Expr& e) {
  const Expr& of = *e.args[0];
  const bool quotient = of.op == Op::kDiv && e.op != Op::kRound && of.args[0]->kind != ValueKind::kReal &&
                        of.args[1]->kind != ValueKind::kReal;
  if (!quotient) {
    SOLSTICE_TRY(const Value v, write(e.args[0]));
    if (v.kind != ValueKind::kReal) return v;
    return called(function_name(e.op), v, e.kind);
  }
  SOLSTICE_TRY(const Value a, write(of.args[0]));
  SOLSTICE_TRY(const Value b, write(of.args[1]));
  Value x = tensor_of(of_kind(a, ValueKind::kInt));
  const Value y = tensor_of(of_kind(b, ValueKind::kInt));
  if (e.op == Op::kCeil) x.text = "-" + x.at(kUnary), x.level = kUnary;
  Value out;
  out.kind = ValueKind::kInt;
  out.dtype = DType::kI64;
  out.axes = united(x.axes, y.axes);
  out.text = fmt::format("torch.div({}, {}, rounding_mode=\"{}\")", aligned(x, out.axes), aligned(y, out.axes),
                         e.op == Op::kTrunc ? "trunc" : "floor");
  if (e.op == Op::kCeil) out.text = "-" + out.text, out.level = kUnary;
  return out;
}

Result<Value> Writer::call_of_two(const Expr& e) {
  SOLSTICE_TRY(const Value a, write(e.args[0]));
  SOLSTICE_TRY(const Value b, write(e.args[1]));
  Value x = named(of_kind(a, e.kind)), y = named(of_kind(b, e.kind));
  const bool extremum = e.op == Op::kMin || e.op == Op::kMax;
  if (x.host && y.host && extremum) {
    x.text = fmt::format("{}({}, {})", e.op == Op::kMin ? "min" : "max", x.text, y.text);
    x.level = kAtom;
    return x;
  }
  if (extremum && x.host != y.host) {
    const Value& tensor = x.host ? y : x;
    Value out = tensor;
    out.text =
        fmt::format("{}.clamp({}={})", tensor.at(kAtom), e.op == Op::kMin ? "max" : "min", (x.host ? x : y).text);
    out.level = kAtom;
    out.view = false;
    return out;
  }
  x = tensor_of(x), y = tensor_of(y);
  Value out;
  out.kind = e.kind;
  out.dtype = dtype_of(e.kind, x, y);
  out.axes = united(x.axes, y.axes);
  out.text = fmt::format("{}({}, {})", function_name(e.op), aligned(x, out.axes), aligned(y, out.axes));
  return out;
}

Result<Value> Writer::logical(const Expr& e) {
  SOLSTICE_TRY(Value a, write(e.args[0]));
  a = of_kind(a, ValueKind::kBool);
  if (e.op == Op::kNot) {
    a = named(a);
    a.text = a.host ? "not " + a.at(kNot) : "~" + a.at(kUnary);
    a.level = a.host ? kNot : kUnary;
    return a;
  }
  ++guards_;
  Result<Value> b = write(e.args[1]);
  --guards_;
  if (!b.ok()) return b;
  const bool both = e.op == Op::kAnd;
  return joined(a, both ? "&" : "|", of_kind(*b, ValueKind::kBool), both ? kBitAnd : kBitOr, ValueKind::kBool);
}

Result<Value> Writer::compare(const Expr& e) {
  SOLSTICE_TRY(const Value a, write(e.args[0]));
  SOLSTICE_TRY(const Value b, write(e.args[1]));
  const ValueKind kind = std::max(a.kind, b.kind);
  return joined(of_kind(a, kind), comparison(e.op), of_kind(b, kind), kCompare, ValueKind::kBool);
}

Result<Value> Writer::select(const Expr& e) {
  SOLSTICE_TRY(const Value c, write(e.args[0]));
  ++guards_;
  const Result<Value> a = write(e.args[1]);
  const Result<Value> b = a.ok() ? write(e.args[2]) : a;
  --guards_;
  if (!a.ok()) return a;
  if (!b.ok()) return b;
  return where(of_kind(c, ValueKind::kBool), of_kind(*a, e.kind), of_kind(*b, e.kind));
}

Result<Value> Writer::cast(const Expr& e) {
  const ExprRef& of = e.args[0];
  // A quotient of integers is cut exactly.
  if (is_integer(e.dtype) && of->op == Op::kDiv && of->args[0]->kind != ValueKind::kReal &&
      of->args[1]->kind != ValueKind::kReal)
    return rounded(*ir::make(Op::kTrunc, {of}));
  SOLSTICE_TRY(Value v, write(of));
  if (is_integer(e.dtype)) return of_kind(tensor_of(v), ValueKind::kInt);
  if (!is_float(e.dtype)) return of_kind(tensor_of(v), ValueKind::kBool);
  v = named(tensor_of(v));
  const bool rounds = size_of(e.dtype) < size_of(body_.real()) || e.dtype == DType::kF32;
  if (!rounds || (e.dtype == DType::kF32 && v.dtype == DType::kF32)) return of_kind(v, ValueKind::kReal);
  v.text = fmt::format("{}.to({})", v.at(kAtom), torch_name(e.dtype));
  v.dtype = e.dtype;
  v.kind = ValueKind::kReal;
  v.level = kAtom;
  v.view = false;
  return v;
}

std::optional<Result<Value>> Writer::named_function(const ExprRef& e) {
  const std::optional<Call> call = call_of(e);
  if (!call) return std::nullopt;
  Result<Value> v = write(call->argument);
  if (!v.ok()) return v;
  Value x = tensor_of(of_kind(*v, ValueKind::kReal));
  x = called(call->function, x, ValueKind::kReal);
  if (!call->rest.empty()) x.text.insert(x.text.size() - 1, call->rest);
  return Result<Value>(std::move(x));
}

}  // namespace solstice::pytorch
