#include "ir/analysis/stops.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/analysis/reads.h"

namespace solstice::ir {
namespace {

// Made of more than indices and literals, whose range the static rules prove.
bool is_data(const ExprRef& e) {
  bool found = false;
  walk(e, [&](const Expr& node) {
    found = found || node.op == Op::kRead || node.op == Op::kReduce || node.op == Op::kRank || node.op == Op::kCast;
  });
  return found;
}

bool is_arg(const Expr& e) {
  return e.op == Op::kReduce && (e.reducer == Reducer::kArgMax || e.reducer == Reducer::kArgMin);
}

bool divides_by_zero(const Expr& e) {
  const bool whole = (e.op == Op::kFloorDiv || e.op == Op::kMod) && e.kind != ValueKind::kReal;
  return whole && (e.args[1]->op != Op::kInt || e.args[1]->integer == 0);
}

bool is_unfit(const Expr& e) {
  if (e.op != Op::kCast || e.kind != ValueKind::kInt) return false;
  const ValueKind from = e.args[0]->kind;
  return from == ValueKind::kReal || (from == ValueKind::kInt && e.dtype != DType::kI64);
}

}  // namespace

std::string Stop::name() const {
  switch (kind) {
    case Kind::kOutside:
      return fmt::format("outside {}", limit);
    case Kind::kUnfit:
      return fmt::format("unfit {}", name_of(dtype));
    case Kind::kZero:
      return "zero";
    case Kind::kNothing:
      return "nothing";
  }
  return "";
}

bool may_stop(const Expr& node) {
  if (node.op == Op::kRead) {
    const auto indices = read_indices(node);
    return !node.has_else && std::any_of(indices.begin(), indices.end(), is_data);
  }
  if (node.op == Op::kRank) return is_data(node.args[1]);
  if (is_arg(node)) return node.args.size() > 1;
  return is_unfit(node) || divides_by_zero(node);
}

bool can_stop(const ExprRef& e) {
  bool found = false;
  walk(e, [&](const Expr& node) { found = found || may_stop(node); });
  return found;
}

std::vector<Stop> stops_of(const Program& program, const Equation& equation, const ExprRef& node) {
  std::vector<Stop> out;
  if (!may_stop(*node)) return out;
  if (node->op == Op::kRead) {
    const auto& shape = program.tensor(node->id).shape;
    for (size_t d = 0; d < shape.size(); ++d) {
      if (is_data(node->args[d])) out.push_back({Stop::Kind::kOutside, node->args[d], shape[d]});
    }
    return out;
  }
  if (node->op == Op::kRank)
    return {{Stop::Kind::kOutside, node->args[1], equation.indices[static_cast<size_t>(node->binders[0])].extent}};
  if (node->op == Op::kCast) return {{Stop::Kind::kUnfit, node->args[0], 0, node->dtype}};
  if (!is_arg(*node)) return {{Stop::Kind::kZero, node->args[1]}};
  return {{Stop::Kind::kNothing, make_reduce(Reducer::kAny, node->binders, node->args[1])}};
}

std::vector<Stop> stops_of_store(const Program& program, const Equation& equation) {
  const Tensor& target = program.target_of(equation);
  const bool narrow = target.dtype && target.value == ValueKind::kInt && *target.dtype != DType::kI64;
  if (!narrow) return {};
  return {{Stop::Kind::kUnfit, equation.rhs, 0, *target.dtype}};
}

}  // namespace solstice::ir
