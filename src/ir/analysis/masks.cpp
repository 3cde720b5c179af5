#include "ir/analysis/masks.h"

#include <algorithm>
#include <cmath>

#include "ir/walk_distinct.h"

namespace solstice::ir {
namespace {

bool reads_reals(const ExprRef& e) {
  bool found = false;
  walk_distinct(e, [&](const Expr& node) { found = found || (node.op == Op::kRead && node.kind == ValueKind::kReal); });
  return found;
}

bool is_hidden(const ExprRef& e) {
  if (e->op == Op::kNeg) return is_hidden(e->args[0]);
  return (e->op == Op::kInt && e->integer == 0) || (e->op == Op::kReal && (e->real == 0 || std::isinf(e->real)));
}

bool leaves_out(const Expr& node) {
  return node.op == Op::kReduce && node.kind == ValueKind::kReal && node.args.size() > 1 && !reads_reals(node.args[1]);
}

// A value of its own, or a factor, that a condition replaces.
bool hides(const Expr& e) {
  return e.op == Op::kSelect && e.kind != ValueKind::kBool && !reads_reals(e.args[0]) &&
         (is_hidden(e.args[1]) || is_hidden(e.args[2]));
}

// Selects of integers are also places (`select(i > 0, i, 0)`): there only factors count.
bool is_mask(const Expr& node) {
  if (node.kind != ValueKind::kReal) return false;
  if (node.op != Op::kMul) return hides(node);
  return std::any_of(node.args.begin(), node.args.end(), [](const ExprRef& factor) {
    return hides(*factor) || (factor->kind == ValueKind::kBool && !reads_reals(factor));
  });
}

template <typename Test>
bool any_node(const Program& program, const Test& test) {
  return std::any_of(program.equations.begin(), program.equations.end(), [&](const Equation& equation) {
    bool found = false;
    walk_distinct(equation.rhs, [&](const Expr& node) { found = found || test(node); });
    return found;
  });
}

}  // namespace

bool leaves_terms_out(const Program& program) { return any_node(program, leaves_out); }

bool has_masks(const Program& program) {
  const auto test = [](const Expr& node) { return leaves_out(node) || is_mask(node); };
  const auto whole = [](const Equation& equation) { return hides(*equation.rhs); };  // read as a factor elsewhere
  return !program.assumptions.empty() || any_node(program, test) ||
         std::any_of(program.equations.begin(), program.equations.end(), whole);
}

}  // namespace solstice::ir
