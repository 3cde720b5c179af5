#include "lang/tree.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace solstice::lang {
namespace {

std::shared_ptr<Expr> node(ExprKind kind, std::string text = "") {
  auto e = std::make_shared<Expr>();
  e->kind = kind;
  e->text = std::move(text);
  return e;
}

}  // namespace

ExprRef integer(int64_t value) {
  if (value < 0 && value != std::numeric_limits<int64_t>::min()) return negate(integer(-value));
  auto e = node(ExprKind::kInt);
  e->integer = value;
  return e;
}

ExprRef number(double value) {
  if (std::isinf(value)) return value < 0 ? negate(name("inf")) : name("inf");
  if (std::signbit(value)) return negate(number(-value));
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  if (const size_t zero = text.find("e-0"); zero != std::string::npos) text.erase(zero + 2, 1);  // 1e-5, not 1e-05
  return node(ExprKind::kNumber, std::move(text));
}

ExprRef name(std::string text) { return node(ExprKind::kName, std::move(text)); }

ExprRef read(std::string tensor, std::vector<ExprRef> indices, ExprRef otherwise) {
  auto e = node(ExprKind::kRead, std::move(tensor));
  e->args = std::move(indices);
  e->otherwise = std::move(otherwise);
  return e;
}

ExprRef reduce(std::string reducer, std::vector<Range> binders, ExprRef body, ExprRef where) {
  auto e = node(ExprKind::kReduce, std::move(reducer));
  e->binders = std::move(binders);
  e->args = {std::move(body)};
  e->where = std::move(where);
  return e;
}

ExprRef rank(std::string ranker, Range binder, ExprRef rank_expr, ExprRef body) {
  auto e = node(ExprKind::kRank, std::move(ranker));
  e->binders = {std::move(binder)};
  e->args = {std::move(body), std::move(rank_expr)};
  return e;
}

ExprRef apply(std::string function, std::vector<ExprRef> args) {
  auto e = node(ExprKind::kApply, std::move(function));
  e->args = std::move(args);
  return e;
}

ExprRef negate(ExprRef operand) {
  auto e = node(ExprKind::kNeg);
  e->args = {std::move(operand)};
  return e;
}

ExprRef logical_not(ExprRef operand) {
  auto e = node(ExprKind::kNot);
  e->args = {std::move(operand)};
  return e;
}

ExprRef binary(BinaryOp op, ExprRef left, ExprRef right) {
  auto e = node(ExprKind::kBinary);
  e->binary = op;
  e->args = {std::move(left), std::move(right)};
  return e;
}

ExprRef compare(CompareOp op, ExprRef left, ExprRef right) {
  auto e = node(ExprKind::kCompare);
  e->compares = {op};
  e->args = {std::move(left), std::move(right)};
  return e;
}

Kernel* find_kernel(Program& program, const std::string& name) {
  for (Item& item : program.items) {
    auto* kernel = std::get_if<Kernel>(&item.node);
    if (kernel && kernel->name == name) return kernel;
  }
  return nullptr;
}

Program with_dims(Program program, const std::vector<std::pair<std::string, int64_t>>& values) {
  for (Item& item : program.items) {
    auto* dims = std::get_if<Dims>(&item.node);
    if (!dims) continue;
    for (Dim& dim : dims->dims) {
      for (const auto& [dim_name, value] : values) {
        if (dim.name == dim_name) dim.value = integer(value);
      }
    }
  }
  return program;
}

}  // namespace solstice::lang
