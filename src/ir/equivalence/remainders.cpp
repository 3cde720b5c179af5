#include "ir/equivalence/remainders.h"

#include <functional>
#include <optional>

namespace solstice::ir {
namespace {

using Values = std::map<std::string, int64_t>;

Values values_of(const Program& program) {
  Values out;
  for (const Dim& dim : program.dims) out[dim.name] = dim.value;
  return out;
}

std::optional<int64_t> combined(lang::BinaryOp op, int64_t a, int64_t b) {
  switch (op) {
    case lang::BinaryOp::kAdd:
      return a + b;
    case lang::BinaryOp::kSub:
      return a - b;
    case lang::BinaryOp::kMul:
      return a * b;
    case lang::BinaryOp::kFloorDiv:
      return b > 0 && a >= 0 ? std::optional(a / b) : std::nullopt;
    case lang::BinaryOp::kMod:
      return b > 0 && a >= 0 ? std::optional(a % b) : std::nullopt;
    default:
      return std::nullopt;
  }
}

// Value of an expression of dims and integers alone.
std::optional<int64_t> value_of(const lang::ExprRef& e, const Values& dims) {
  if (e->kind == lang::ExprKind::kInt) return e->integer;
  if (e->kind == lang::ExprKind::kName) {
    const auto found = dims.find(e->text);
    return found == dims.end() ? std::nullopt : std::optional(found->second);
  }
  if (e->kind != lang::ExprKind::kBinary) return std::nullopt;
  const auto a = value_of(e->args[0], dims), b = value_of(e->args[1], dims);
  return a && b ? combined(e->binary, *a, *b) : std::nullopt;
}

bool leaves_none(const lang::Expr& division, const Values& dims) {
  const auto a = value_of(division.args[0], dims), b = value_of(division.args[1], dims);
  return a && b && *b > 0 && *a % *b == 0;
}

using Visit = std::function<void(const lang::Expr&)>;

void visit_ranges(const std::vector<lang::Range>& ranges, const Visit& visit);

void visit_all(const lang::ExprRef& e, const Visit& visit) {
  if (!e) return;
  visit(*e);
  for (const lang::ExprRef& arg : e->args) visit_all(arg, visit);
  visit_all(e->otherwise, visit);
  visit_all(e->where, visit);
  visit_ranges(e->binders, visit);
}

void visit_ranges(const std::vector<lang::Range>& ranges, const Visit& visit) {
  for (const lang::Range& range : ranges) visit_all(range.extent, visit);
}

void visit_equation(const lang::Equation& equation, const Visit& visit) {
  for (const lang::ExprRef& index : equation.lhs) visit_all(index, visit);
  visit_all(equation.rhs, visit);
  visit_ranges(equation.ranges, visit);
}

void visit_items(const std::vector<lang::Item>& items, const Visit& visit) {
  for (const lang::Item& item : items) {
    if (const auto* dims = std::get_if<lang::Dims>(&item.node)) {
      for (const lang::Dim& dim : dims->dims) visit_all(dim.value, visit);
    }
    if (const auto* decl = std::get_if<lang::Decl>(&item.node)) {
      for (const lang::ExprRef& extent : decl->type.extents) visit_all(extent, visit);
    }
    if (const auto* equation = std::get_if<lang::Equation>(&item.node)) visit_equation(*equation, visit);
    if (const auto* view = std::get_if<lang::View>(&item.node)) visit_equation(view->equation, visit);
    if (const auto* kernel = std::get_if<lang::Kernel>(&item.node)) visit_items(kernel->items, visit);
  }
}

}  // namespace

bool divides_alike(const lang::Program& text, const Program& real, const Program& small) {
  const Values at_real = values_of(real), at_small = values_of(small);
  bool alike = true;
  visit_items(text.items, [&](const lang::Expr& e) {
    if (e.kind != lang::ExprKind::kBinary || e.binary != lang::BinaryOp::kFloorDiv) return;
    alike = alike && (!leaves_none(e, at_real) || leaves_none(e, at_small));
  });
  return alike;
}

}  // namespace solstice::ir
