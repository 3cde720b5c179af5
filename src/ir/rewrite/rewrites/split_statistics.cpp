// A long reduction that has one value for many points of its equation becomes an equation of its own, and a variance a
// mean and a mean of squares, so that kernels may be cut between them.
//
//   y[m,n] = x[m,n] - mean[k](x[k,n])     =     mean_of[n] = mean[k](x[k,n]);  y[m,n] = x[m,n] - mean_of[n]
//   v[n] = var[k](x[k,n])                 =     mean_of[n] = mean[k](x[k,n]);
//                                               v[n] = mean[k](square(x[k,n] - mean_of[n]))
//
// Proof. The reduction depends on no index but the equation's free ones, so it has one value for each of their points,
// which the new equation computes before it is read; a variance is defined as the mean of squared distances from the
// mean. A reduction that may stop at run time stays where it is guarded. Equations of a recurrence are left alone.
#include <fmt/format.h>

#include <algorithm>

#include "ir/analysis/stops.h"
#include "ir/rewrite/edit.h"
#include "ir/rewrite/rewrite.h"

namespace solstice::ir {
namespace {

constexpr int64_t kLong = 256;  // points: shorter ones are a window's, and run inside a thread

bool is_long(const Equation& equation, const Expr& reduction) {
  int64_t points = 1;
  for (const int binder : reduction.binders) points *= index_of(equation, binder).extent;
  return points >= kLong;
}

// It varies with some of the equation's free indices, and with no other index.
bool is_statistic(const Equation& equation, const LoneReduction& reduction) {
  const std::vector<int>& over = reduction.alone.free;
  const bool free = std::all_of(over.begin(), over.end(), [&](int id) {
    return std::find(equation.free.begin(), equation.free.end(), id) != equation.free.end();
  });
  return free && (over.size() < equation.free.size() || reduction.node->reducer == Reducer::kVar);
}

// Its mean comes first; null where it has a condition, which the mean of squares would need too.
std::optional<Rewritten> variance_apart(const Program& program, int id) {
  const Equation& equation = program.equation(id);
  const ExprRef variance = equation.rhs;
  if (variance->op != Op::kReduce || variance->reducer != Reducer::kVar || variance->args.size() > 1)
    return std::nullopt;
  if (!is_long(equation, *variance)) return std::nullopt;
  Rewritten out{program,
                fmt::format("the mean that the variance `{}` needs comes first", program.target_of(equation).name)};
  int place = id;
  const ExprRef mean =
      hoisted(out.program, place, make_reduce(Reducer::kMean, variance->binders, variance->args[0]), "mean_of");
  const ExprRef distance = make(Op::kSub, {variance->args[0], mean});
  out.program.equations[static_cast<size_t>(place)].rhs =
      make_reduce(Reducer::kMean, variance->binders, make(Op::kMul, {distance, distance}));
  return out;
}

std::optional<Rewritten> with_statistic_apart(const Subject& subject, int id) {
  const Program& program = subject.program();
  const Equation& equation = program.equation(id);
  if (equation.group >= 0) return std::nullopt;
  for (const LoneReduction& reduction : subject.reductions_of(id)) {
    const ExprRef& node = reduction.node;
    if (node == equation.rhs || !is_statistic(equation, reduction) || !is_long(equation, *node)) continue;
    if (can_stop(node) && is_guarded(equation.rhs, node.get())) continue;
    Rewritten out{program,
                  fmt::format("the {} in `{}` comes first", name_of(node->reducer), program.target_of(equation).name)};
    int place = id;
    const ExprRef read = hoisted(out.program, place, node, std::string(name_of(node->reducer)) + "_of");
    Equation& reader = out.program.equations[static_cast<size_t>(place)];
    reader.rhs = replaced(reader.rhs, node.get(), read);
    return out;
  }
  return variance_apart(program, id);
}

}  // namespace

extern const Rewrite solstice_rewrites_split_statistics;
const Rewrite solstice_rewrites_split_statistics = {
    .name = "split_statistics",
    .help = "a long reduction inside an equation becomes one of its own, a variance a mean and a mean of squares",
    .structural = true,
    .keeps_nonfinite = true,
    .at = with_statistic_apart,
};

}  // namespace solstice::ir
