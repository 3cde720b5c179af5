// Builders of expressions, and names.
#include <algorithm>
#include <cmath>
#include <utility>

#include "base/integer.h"
#include "ir/program.h"

namespace solstice::ir {
namespace {

ValueKind joined(ValueKind a, ValueKind b) { return std::max(a, b); }

ValueKind arithmetic(const std::vector<ExprRef>& args) {
  ValueKind kind = ValueKind::kInt;  // booleans count as 0 and 1
  for (const ExprRef& a : args) kind = joined(kind, a->kind);
  return kind;
}

ValueKind power_kind(const std::vector<ExprRef>& args) {
  const bool whole = args[1]->op == Op::kInt && args[1]->integer >= 0;
  return whole ? arithmetic(args) : ValueKind::kReal;
}

ValueKind kind_of(Op op, const std::vector<ExprRef>& args) {
  switch (op) {
    case Op::kSelect:
      return joined(args[1]->kind, args[2]->kind);
    case Op::kNot:
    case Op::kAnd:
    case Op::kOr:
    case Op::kLt:
    case Op::kLe:
    case Op::kEq:
    case Op::kNe:
    case Op::kGe:
    case Op::kGt:
    case Op::kIsNan:
    case Op::kIsFinite:
      return ValueKind::kBool;
    case Op::kNeg:
    case Op::kAdd:
    case Op::kSub:
    case Op::kMul:
    case Op::kFloorDiv:
    case Op::kMod:
    case Op::kMin:
    case Op::kMax:
    case Op::kAbs:
    case Op::kSign:
    case Op::kBitAnd:
      return arithmetic(args);
    case Op::kPow:
      return power_kind(args);
    case Op::kFloor:
    case Op::kCeil:
    case Op::kRound:
    case Op::kTrunc:
      return arithmetic(args);  // of an int it is the int itself
    default:
      return ValueKind::kReal;
  }
}

// Integer literals are folded, so that extents and offsets written with dims become numbers.
ExprRef folded(Op op, const std::vector<ExprRef>& args) {
  const auto literal = [](const ExprRef& e) { return e->op == Op::kInt; };
  if (op == Op::kNeg && args[0]->op == Op::kReal) return make_real(-args[0]->real);
  if (!std::all_of(args.begin(), args.end(), literal)) return nullptr;
  int64_t value = 0;
  switch (op) {
    case Op::kNeg:
      return make_int(-args[0]->integer);
    case Op::kAdd:
      return __builtin_add_overflow(args[0]->integer, args[1]->integer, &value) ? nullptr : make_int(value);
    case Op::kSub:
      return __builtin_sub_overflow(args[0]->integer, args[1]->integer, &value) ? nullptr : make_int(value);
    case Op::kMul:
      return __builtin_mul_overflow(args[0]->integer, args[1]->integer, &value) ? nullptr : make_int(value);
    case Op::kFloorDiv:
      return args[1]->integer > 0 ? make_int(floor_div(args[0]->integer, args[1]->integer)) : nullptr;
    case Op::kMod: {
      const int64_t a = args[0]->integer;
      const int64_t b = args[1]->integer;
      return b > 0 ? make_int(a - b * floor_div(a, b)) : nullptr;
    }
    default:
      return nullptr;
  }
}

}  // namespace

ExprRef make_real(double value) {
  auto e = std::make_shared<Expr>();
  e->op = Op::kReal;
  e->kind = ValueKind::kReal;
  e->real = value;
  return e;
}

ExprRef make_int(int64_t value) {
  auto e = std::make_shared<Expr>();
  e->op = Op::kInt;
  e->kind = ValueKind::kInt;
  e->integer = value;
  return e;
}

ExprRef make_index(int id) {
  auto e = std::make_shared<Expr>();
  e->op = Op::kIndex;
  e->kind = ValueKind::kInt;
  e->id = id;
  return e;
}

ExprRef make_read(int tensor, ValueKind kind, std::vector<ExprRef> indices, ExprRef otherwise) {
  auto e = std::make_shared<Expr>();
  e->op = Op::kRead;
  e->kind = otherwise ? joined(kind, otherwise->kind) : kind;
  e->id = tensor;
  e->args = std::move(indices);
  e->has_else = otherwise != nullptr;
  if (otherwise) e->args.push_back(std::move(otherwise));
  return e;
}

ExprRef make(Op op, std::vector<ExprRef> args) {
  if (ExprRef literal = folded(op, args)) return literal;
  auto e = std::make_shared<Expr>();
  e->op = op;
  e->kind = kind_of(op, args);
  e->args = std::move(args);
  return e;
}

ExprRef make_reduce(Reducer reducer, std::vector<int> binders, ExprRef body, ExprRef where) {
  auto e = std::make_shared<Expr>();
  const bool ranking = reducer == Reducer::kArgTop || reducer == Reducer::kArgBot;
  e->op = ranking ? Op::kRank : Op::kReduce;
  e->reducer = reducer;
  e->binders = std::move(binders);
  switch (reducer) {
    case Reducer::kSum:
    case Reducer::kProd:
    case Reducer::kMax:
    case Reducer::kMin:
      e->kind = joined(ValueKind::kInt, body->kind);
      break;
    case Reducer::kAny:
    case Reducer::kAll:
      e->kind = ValueKind::kBool;
      break;
    case Reducer::kMean:
    case Reducer::kVar:
    case Reducer::kLogSumExp:
      e->kind = ValueKind::kReal;
      break;
    default:
      e->kind = ValueKind::kInt;
      break;
  }
  e->args.push_back(std::move(body));
  if (where) e->args.push_back(std::move(where));
  return e;
}

ExprRef make_cast(DType dtype, ExprRef operand) {
  auto e = std::make_shared<Expr>();
  e->op = Op::kCast;
  e->dtype = dtype;
  e->kind = kind_of(dtype);
  e->args = {std::move(operand)};
  return e;
}

ValueKind kind_of(DType dtype) {
  if (dtype == DType::kBool) return ValueKind::kBool;
  return is_float(dtype) ? ValueKind::kReal : ValueKind::kInt;
}

int64_t Tensor::elements() const {
  int64_t n = 1;
  for (const int64_t extent : shape) n *= extent;
  return n;
}

bool describes_whole(const Program& program, const Equation& assumption) {
  const Tensor& buffer = program.target_of(assumption);
  std::vector<int> seen;
  for (size_t d = 0; d < assumption.lhs.size(); ++d) {
    const Expr& place = *assumption.lhs[d];
    if (place.op == Op::kInt && place.integer == 0 && buffer.shape[d] == 1) continue;
    if (place.op != Op::kIndex || assumption.indices[static_cast<size_t>(place.id)].extent != buffer.shape[d])
      return false;
    if (std::find(seen.begin(), seen.end(), place.id) != seen.end()) return false;
    seen.push_back(place.id);
  }
  return true;
}

const Equation* closed_form_of(const Program& program, int tensor) {
  const auto found = std::find_if(program.assumptions.begin(), program.assumptions.end(),
                                  [&](const Equation& e) { return e.target == tensor && describes_whole(program, e); });
  return found == program.assumptions.end() ? nullptr : &*found;
}

int Program::find_tensor(std::string_view tensor_name) const {
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i].name == tensor_name) return static_cast<int>(i);
  }
  return -1;
}

std::string_view name_of(Op op) {
  static const char* const names[] = {
      "real",  "int",   "bool",  "index",    "read",  "reduce",    "rank",         "cast",   "select",
      "neg",   "not",   "and",   "or",       "add",   "sub",       "mul",          "div",    "floor_div",
      "mod",   "pow",   "min",   "max",      "fmod",  "remainder", "floor_divide", "lt",     "le",
      "eq",    "ne",    "ge",    "gt",       "exp",   "expm1",     "log",          "log1p",  "sqrt",
      "rsqrt", "tanh",  "erf",   "sin",      "cos",   "abs",       "sign",         "floor",  "ceil",
      "round", "trunc", "isnan", "isfinite", "atan2", "erfinv",    "lgamma",       "bit_and"};
  static_assert(std::size(names) == static_cast<size_t>(Op::kBitAnd) + 1);
  return names[static_cast<size_t>(op)];
}

std::string_view name_of(Reducer reducer) {
  static const char* const names[] = {"sum", "prod", "max", "min",       "argmax", "argmin", "any",
                                      "all", "mean", "var", "logsumexp", "argtop", "argbot"};
  static_assert(std::size(names) == static_cast<size_t>(Reducer::kArgBot) + 1);
  return names[static_cast<size_t>(reducer)];
}

bool reads(const ExprRef& root, int tensor) {
  bool found = false;
  walk(root, [&](const Expr& e) { found = found || (e.op == Op::kRead && e.id == tensor); });
  return found;
}

}  // namespace solstice::ir
