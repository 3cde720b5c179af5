#include "ir/bind/elaborate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "lang/print.h"

namespace solstice::ir {
namespace {

Op op_of(lang::BinaryOp op) {
  switch (op) {
    case lang::BinaryOp::kOr:
      return Op::kOr;
    case lang::BinaryOp::kAnd:
      return Op::kAnd;
    case lang::BinaryOp::kAdd:
      return Op::kAdd;
    case lang::BinaryOp::kSub:
      return Op::kSub;
    case lang::BinaryOp::kMul:
      return Op::kMul;
    case lang::BinaryOp::kDiv:
      return Op::kDiv;
    case lang::BinaryOp::kFloorDiv:
      return Op::kFloorDiv;
    case lang::BinaryOp::kMod:
      return Op::kMod;
    case lang::BinaryOp::kPow:
      return Op::kPow;
  }
  return Op::kAdd;
}

Op op_of(lang::CompareOp op) {
  switch (op) {
    case lang::CompareOp::kLt:
      return Op::kLt;
    case lang::CompareOp::kLe:
      return Op::kLe;
    case lang::CompareOp::kEq:
      return Op::kEq;
    case lang::CompareOp::kNe:
      return Op::kNe;
    case lang::CompareOp::kGe:
      return Op::kGe;
    case lang::CompareOp::kGt:
      return Op::kGt;
  }
  return Op::kEq;
}

bool has_real_division(const lang::ExprRef& e) {
  if (!e) return false;
  if (e->kind == lang::ExprKind::kBinary && e->binary == lang::BinaryOp::kDiv) return true;
  if (e->kind != lang::ExprKind::kBinary && e->kind != lang::ExprKind::kNeg) return false;
  for (const lang::ExprRef& a : e->args) {
    if (has_real_division(a)) return true;
  }
  return false;
}

// The index with `//` for every `/`.
lang::ExprRef with_floor_division(const lang::ExprRef& e) {
  auto copy = std::make_shared<lang::Expr>(*e);
  if (copy->kind == lang::ExprKind::kBinary && copy->binary == lang::BinaryOp::kDiv) {
    copy->binary = lang::BinaryOp::kFloorDiv;
  }
  for (lang::ExprRef& a : copy->args) a = with_floor_division(a);
  return copy;
}

bool is_whole(Op op) { return op == Op::kFloor || op == Op::kCeil || op == Op::kRound || op == Op::kTrunc; }

}  // namespace

// Errors in a function's body are reported where the function is called.
Span Elaborator::here(Span span) const { return env_ ? call_ : span; }

void Elaborator::error(std::string_view code, Span span, std::string message, std::string hint) {
  binder_.error(code, here(span), std::move(message), std::move(hint));
}

ExprRef Elaborator::made(Op op, std::vector<ExprRef> args, Span span) {
  for (const ExprRef& a : args) {
    if (!a) return nullptr;
  }
  const bool has_place = std::any_of(args.begin(), args.end(), [](const ExprRef& a) { return a->span.end != 0; });
  ExprRef e = make(op, std::move(args));
  // Just made: nobody shares it yet. An integer has a place only if a dim is in it.
  if (e->op != Op::kInt || has_place) std::const_pointer_cast<Expr>(e)->span = here(span);
  return e;
}

bool Elaborator::grow(int64_t nodes, int height, Span span) {
  nodes_ += nodes;
  deepest_ = std::max(deepest_, level_ + height);
  return binder_.afford_nodes(nodes, here(span)) && binder_.afford_depth(deepest_, here(span));
}

ExprRef Elaborator::value(const lang::ExprRef& e) {
  if (!grow(1, 1, e->span)) return nullptr;
  ++level_;
  ExprRef out = expression(e);
  --level_;
  return out;
}

ExprRef Elaborator::expression(const lang::ExprRef& e) {
  switch (e->kind) {
    case lang::ExprKind::kInt:
      return make_int(e->integer);
    case lang::ExprKind::kNumber:
      return make_real(std::strtod(e->text.c_str(), nullptr));
    case lang::ExprKind::kName:
      return bare_name(*e);
    case lang::ExprKind::kRead:
      return read(*e);
    case lang::ExprKind::kReduce:
      return reduce(*e);
    case lang::ExprKind::kRank:
      return rank(*e);
    case lang::ExprKind::kApply:
      return apply(*e);
    case lang::ExprKind::kNeg:
      return made(Op::kNeg, {value(e->args[0])}, e->span);
    case lang::ExprKind::kNot:
      return made(Op::kNot, {condition(e->args[0])}, e->span);
    case lang::ExprKind::kCompare:
      return comparison(*e);
    case lang::ExprKind::kBinary:
      return e->binary == lang::BinaryOp::kAnd || e->binary == lang::BinaryOp::kOr ? logical(*e) : arithmetic(*e);
  }
  return nullptr;
}

ExprRef Elaborator::condition(const lang::ExprRef& e) {
  ExprRef c = value(e);
  if (!c || c->kind == ValueKind::kBool) return c;
  error("E021", e->span, fmt::format("`{}` is a number where a condition stands", lang::print(e)),
        fmt::format("compare it: `{} != 0`", lang::print(e)));
  return nullptr;
}

ExprRef Elaborator::index(const lang::ExprRef& e) {
  ExprRef i = value(e);
  if (!i) return nullptr;
  if (is_whole(i->op) && i->kind == ValueKind::kReal) return make_cast(DType::kI64, i);
  if (i->kind != ValueKind::kReal) return i;
  const std::string text = lang::print_tight(e);
  if (has_real_division(e)) {
    error("E013", e->span, fmt::format("index `{}`: `/` is real division", text),
          fmt::format("`{}` rounds down; if only exact multiples count: `where ... % ... == 0`",
                      lang::print_tight(with_floor_division(e))));
  } else {
    error("E013", e->span, fmt::format("index `{}` is real; an index is an integer", text),
          fmt::format("`i64({})`", text));
  }
  return nullptr;
}

ExprRef Elaborator::comparison(const lang::Expr& e) {
  std::vector<ExprRef> operands;
  for (const lang::ExprRef& a : e.args) operands.push_back(value(a));
  ExprRef all;
  for (size_t i = 0; i < e.compares.size(); ++i) {
    ExprRef one = made(op_of(e.compares[i]), {operands[i], operands[i + 1]}, e.span);
    if (!one) return nullptr;
    all = all ? made(Op::kAnd, {all, one}, e.span) : one;
  }
  return all;
}

// The right operand is evaluated only where the left one leaves the result open.
ExprRef Elaborator::logical(const lang::Expr& e) {
  ExprRef left = condition(e.args[0]);
  if (left) facts_.push_back({left, e.binary == lang::BinaryOp::kAnd});
  ExprRef right = condition(e.args[1]);
  if (left) facts_.pop_back();
  return made(op_of(e.binary), {left, right}, e.span);
}

ExprRef Elaborator::arithmetic(const lang::Expr& e) {
  ExprRef left = value(e.args[0]);
  ExprRef right = value(e.args[1]);
  const bool division = e.binary == lang::BinaryOp::kFloorDiv || e.binary == lang::BinaryOp::kMod;
  if (division && right && right->op == Op::kInt && right->integer <= 0) {
    error("E013", e.span,
          fmt::format("`{}` has the divisor {}", lang::print(std::make_shared<lang::Expr>(e)), right->integer),
          "`//` and `%` round down by a positive divisor");
    return nullptr;
  }
  if (division && ((left && left->kind == ValueKind::kReal) || (right && right->kind == ValueKind::kReal))) {
    error("E021", e.span, fmt::format("`{}` is of reals", lang::print(std::make_shared<lang::Expr>(e))),
          e.binary == lang::BinaryOp::kMod ? "`%` takes integers; of reals: `remainder(a, b)`"
                                           : "`//` takes integers; of reals: `floor_divide(a, b)`");
    return nullptr;
  }
  return made(op_of(e.binary), {std::move(left), std::move(right)}, e.span);
}

}  // namespace solstice::ir
