#include "pytorch/expression.h"

#include <fmt/format.h>

#include <algorithm>

#include "pytorch/parts.h"

namespace solstice::pytorch {
namespace {

using ir::Expr;
using ir::ExprRef;
using ir::Op;
using ir::ValueKind;

constexpr size_t kLong = 240;  // characters that stand in another expression

// How often each node stands in another.
void count_uses(const ExprRef& e, std::unordered_map<const Expr*, int>& uses) {
  if (!e || ++uses[e.get()] > 1) return;
  for (const ExprRef& arg : e->args) count_uses(arg, uses);
}

bool is_leaf(const Expr& e) { return e.op == Op::kReal || e.op == Op::kInt || e.op == Op::kBool || e.op == Op::kIndex; }

}  // namespace

Writer::Writer(Body& body, const ir::Equation& equation, int step, std::string step_name)
    : body_(body),
      equation_(equation),
      integers_(equation.indices, [](int) { return std::optional<ir::ValueRange>(); }),
      step_(step),
      step_name_(std::move(step_name)) {
  for (const int id : equation.free) enter(id);
  count_uses(equation.rhs, uses_);
}

void Writer::enter(int id) { places_.emplace(id, static_cast<int>(places_.size())); }

Error Writer::refusal(const std::string& why) const {
  Error error =
      fail(Code::not_yet,
           fmt::format("`{}` is not written as PyTorch operators: {}", ir::to_text(body_.program(), equation_), why),
           "write it by other equations, or name the module that the program computes: --of FILE.py");
  error.offset = equation_.span.begin;
  return error;
}

std::vector<int> Writer::united(const std::vector<int>& a, const std::vector<int>& b) const {
  std::vector<int> out = a;
  for (const int id : b) {
    if (!contains(out, id)) out.push_back(id);
  }
  std::sort(out.begin(), out.end(), [this](int x, int y) { return places_.at(x) < places_.at(y); });
  return out;
}

std::vector<int64_t> Writer::extents_of(const std::vector<int>& axes) const {
  std::vector<int64_t> out;
  for (const int id : axes) out.push_back(extent(id));
  return out;
}

Value Writer::named(Value v) {
  if (v.text.size() <= kLong) return v;
  v.text = body_.temporary(v.text);
  v.level = kAtom;
  return v;
}

Value Writer::expanded(const Value& v, const std::vector<int>& axes) {
  Value out = v.host ? tensor_of(v) : v;
  if (out.axes == axes) return out;
  out.text = fmt::format("torch.broadcast_to({}, {})", aligned(out, axes), tuple_text(extents_of(axes)));
  out.axes = axes;
  out.level = kAtom;
  out.view = true;
  return out;
}

Value Writer::tensor_of(const Value& v) {
  if (!v.host) return v;
  Value out = v;
  out.host = false;
  out.level = kAtom;
  out.dtype = v.kind == ValueKind::kReal ? body_.real() : v.kind == ValueKind::kInt ? DType::kI64 : DType::kBool;
  out.text = fmt::format("torch.full((), {}, dtype={}, device={})", v.text, torch_name(out.dtype), body_.device());
  return out;
}

Value Writer::of_kind(const Value& v, ValueKind kind) {
  const DType wanted = kind == ValueKind::kReal ? body_.real() : kind == ValueKind::kInt ? DType::kI64 : DType::kBool;
  const bool wide = v.dtype == DType::kF64 || v.dtype == wanted;
  Value out = v;
  out.kind = kind;
  if (v.host) {
    if (kind != ValueKind::kBool && v.kind == ValueKind::kBool) {
      out.text = fmt::format("int({})", v.text);
      out.level = kAtom;
    }
    return out;
  }
  if (wide && (kind == ValueKind::kReal || v.dtype == wanted)) return out;
  out.text = fmt::format("{}.to({})", v.at(kAtom), torch_name(wanted));
  out.dtype = wanted;
  out.level = kAtom;
  out.view = false;
  return out;
}

DType Writer::dtype_of(ValueKind kind, const Value& a, const Value& b) const {
  if (kind == ValueKind::kBool) return DType::kBool;
  if (kind == ValueKind::kInt) return DType::kI64;
  if (a.host) return b.host ? body_.real() : b.dtype;
  return b.host || a.dtype == DType::kF64 ? a.dtype : b.dtype;
}

Value Writer::joined(const Value& a, const char* op, const Value& b, int level, ValueKind kind) {
  const Value x = named(a), y = named(b);
  Value out;
  out.kind = kind;
  out.host = x.host && y.host;
  out.axes = united(x.axes, y.axes);
  out.dtype = dtype_of(kind, x, y);
  out.level = level;
  const auto side = [&](const Value& v, int least) {
    const std::string text = aligned(v, out.axes);
    return text == v.text ? v.at(least) : text;
  };
  out.text = fmt::format("{} {} {}", side(x, level == kCompare ? level + 1 : level), op, side(y, level + 1));
  return out;
}

Value Writer::called(const std::string& function, const Value& v, ValueKind kind) {
  Value out = tensor_of(named(v));
  out.text = fmt::format("{}({})", function, out.text);
  out.level = kAtom;
  out.view = false;
  out.kind = kind;
  if (kind == ValueKind::kBool) out.dtype = DType::kBool;
  return out;
}

Value Writer::where(const Value& condition, const Value& a, const Value& b) {
  Value x = named(a), y = named(b);
  const Value c = named(condition);
  if (x.host && y.host && x.kind == ValueKind::kReal) x = tensor_of(x);
  Value out;
  out.kind = std::max(a.kind, b.kind);
  out.dtype = dtype_of(out.kind, x, y);
  if (c.host) {
    out.axes = united(x.axes, y.axes);
    if (!x.host || !y.host) x = expanded(x, out.axes), y = expanded(y, out.axes);
    out.host = x.host && y.host;
    out.text = fmt::format("{} if {} else {}", x.at(kNot), c.at(kNot), y.at(kNot));
    out.level = kTernary;
    return out;
  }
  out.axes = united(c.axes, united(x.axes, y.axes));
  out.text = fmt::format("torch.where({}, {}, {})", aligned(c, out.axes), aligned(x, out.axes), aligned(y, out.axes));
  return out;
}

Value Writer::masked(const Value& condition, const Value& v, const std::string& otherwise) {
  Value other;
  other.text = otherwise;
  other.host = true;
  other.kind = v.kind;
  other.level = kUnary;
  return where(condition, v, other);
}

Result<Value> Writer::index_tensor(int id) {
  Value out;
  out.kind = ValueKind::kInt;
  out.dtype = DType::kI64;
  if (is_step(id)) {
    out.host = true;
    out.text = step_name_;
    return out;
  }
  out.axes = {id};
  out.text = body_.range(extent(id));
  return out;
}

// A node that several others share is computed once.
Result<Value> Writer::write(const ExprRef& e) {
  if (const auto found = known_.find(e.get()); found != known_.end()) return found->second;
  const auto guarded = guarded_.find(e.get());
  if (guards_ > 0 && guarded != guarded_.end()) return guarded->second;
  SOLSTICE_TRY(Value v, compute(e));
  if (v.dtype != DType::kF64 && v.kind == ValueKind::kReal) v = of_kind(v, ValueKind::kReal);
  const auto uses = uses_.find(e.get());
  if (is_leaf(*e) || v.host || uses == uses_.end() || uses->second < 2) return v;
  if (v.text.size() > 24) {
    v.text = body_.temporary(v.text);
    v.level = kAtom;
  }
  (guards_ > 0 ? guarded_ : known_).emplace(e.get(), v);
  return v;
}

Result<Value> Writer::write_raw(const ExprRef& e) { return e->op == Op::kRead ? write_read(*this, *e) : write(e); }

Result<Value> Writer::compute(const ExprRef& e) {
  if (std::optional<Result<Value>> named = named_function(e)) return std::move(*named);
  Value out;
  out.host = true;
  out.kind = e->kind;
  switch (e->op) {
    case Op::kReal:
      out.text = real_text(e->real);
      if (e->real < 0) out.level = kUnary;
      return out;
    case Op::kInt:
      out.text = std::to_string(e->integer);
      if (e->integer < 0) out.level = kUnary;
      return out;
    case Op::kBool:
      out.text = e->integer != 0 ? "True" : "False";
      return out;
    case Op::kIndex:
      return index_tensor(e->id);
    case Op::kRead:
      return write_read(*this, *e);
    case Op::kReduce:
      return write_reduction(*this, *e);
    case Op::kRank:
      return write_rank(*this, *e);
    case Op::kCast:
      return cast(*e);
    case Op::kSelect:
      return select(*e);
    case Op::kNot:
    case Op::kAnd:
    case Op::kOr:
      return logical(*e);
    default:
      return arithmetic(*e);
  }
}

}  // namespace solstice::pytorch
