// A recurrence that only accumulates is a prefix sum: its steps no longer wait for each other.
//
//   h[t] = h[t-1 else c] + x[t]   =   h[t] = c + sum[s where s <= t](x[s])
//
// The same holds for *, max and min, and backwards.
//
// Proof. By induction over the steps: h at the first step is c + x there, the sum over one element; if h[t-1] is c plus
// the sum of the elements up to t-1, adding x[t] gives the sum up to t. Products, maxima and minima are associative
// alike. The read of the step before is the only read of the recurrence's own tensor, at the same point of the other
// indices, and x is evaluated at the same points as before. What is accumulated may not be scaled on the way (h*a + x
// is no prefix sum), nor rounded: a tensor below f32 rounds every step, a prefix sum once.
#include <fmt/format.h>

#include <algorithm>

#include "ir/rewrite/edit.h"
#include "ir/rewrite/rewrite.h"

namespace solstice::ir {
namespace {

std::optional<Reducer> accumulated_by(Op op) {
  switch (op) {
    case Op::kAdd:
      return Reducer::kSum;
    case Op::kMul:
      return Reducer::kProd;
    case Op::kMax:
      return Reducer::kMax;
    case Op::kMin:
      return Reducer::kMin;
    default:
      return std::nullopt;
  }
}

bool is_neutral(const ExprRef& e, Reducer reducer) {
  const bool number = e->op == Op::kInt || e->op == Op::kReal;
  const double value = e->op == Op::kInt ? static_cast<double>(e->integer) : e->real;
  return number && ((reducer == Reducer::kSum && value == 0) || (reducer == Reducer::kProd && value == 1));
}

// Is it the equation's own tensor, one step before, with a value for the first step?
bool is_step_before(const Equation& equation, const Expr& e) {
  if (e.op != Op::kRead || e.id != equation.target || !e.has_else || e.args.size() != equation.lhs.size() + 1)
    return false;
  for (size_t d = 0; d < equation.lhs.size(); ++d) {
    const std::optional<Affine> here = as_affine(e.args[d]);
    const bool step = equation.lhs[d]->id == equation.step_index;
    if (!here || *here != Affine{step ? -equation.step_sign : 0, {{equation.lhs[d]->id, 1}}}) return false;
  }
  return !reads(e.args.back(), equation.target);
}

std::optional<Rewritten> as_prefix_sum(const Subject& subject, int id) {
  const Program& program = subject.program();
  const Equation& recurrence = program.equation(id);
  if (recurrence.group < 0 || recurrence.step_index < 0 || subject.definitions().writers(recurrence.target).size() != 1)
    return std::nullopt;
  const bool bare =
      std::all_of(recurrence.lhs.begin(), recurrence.lhs.end(), [](const ExprRef& e) { return e->op == Op::kIndex; });
  const std::optional<Reducer> reducer = accumulated_by(recurrence.rhs->op);
  if (!bare || !reducer || recurrence.rhs->kind != ValueKind::kReal || subject.definitions().narrows(recurrence))
    return std::nullopt;
  const size_t own = is_step_before(recurrence, *recurrence.rhs->args[0]) ? 0 : 1;
  const ExprRef& previous = recurrence.rhs->args[own];
  const ExprRef& added = recurrence.rhs->args[1 - own];
  if (!is_step_before(recurrence, *previous) || reads(added, recurrence.target)) return std::nullopt;
  Rewritten out{program, ""};
  Equation& equation = out.program.equations[static_cast<size_t>(id)];
  const int t = recurrence.step_index;
  const int64_t first = recurrence.step_sign > 0 ? 0 : index_of(recurrence, t).extent - 1;
  const int s = static_cast<int>(equation.indices.size());
  equation.indices.push_back(index_of(recurrence, t));
  const ExprRef body = transplanted(equation, recurrence, added, {{t, make_index(s)}});
  const ExprRef earlier = make(recurrence.step_sign > 0 ? Op::kLe : Op::kGe, {make_index(s), make_index(t)});
  const ExprRef start = transplanted(equation, recurrence, previous->args.back(), {{t, make_int(first)}});
  const ExprRef sum = make_reduce(*reducer, {s}, body, earlier);
  equation.rhs = is_neutral(start, *reducer) ? sum : make(recurrence.rhs->op, {start, sum});
  equation.group = equation.step_index = -1;
  out.description =
      fmt::format("the steps of `{}` are a prefix {}", program.target_of(recurrence).name, name_of(*reducer));
  return out;
}

}  // namespace

extern const Rewrite solstice_rewrites_prefix_sums;
const Rewrite solstice_rewrites_prefix_sums = {
    .name = "prefix_sums",
    .help = "a recurrence that only accumulates becomes a prefix sum",
    .structural = true,
    .at = as_prefix_sum,
};

}  // namespace solstice::ir
