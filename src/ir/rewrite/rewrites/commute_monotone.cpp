// A monotone map goes behind a maximum or minimum.
//
//   max[i<2](tanh(x[2*p+i]))  =  tanh(max[i<2](x[2*p+i]))        min[k](x[k] * -2)  =  -2 * max[k](x[k])
//
// Proof. For f that never decreases on the extended reals, f(max S) = max f(S) for every finite set S that is not
// empty: max S is an element of S, and f of the others is no larger. For f that never increases, f(min S) = max f(S).
// Allowed are maps with that property on the whole line, infinities included: exp, expm1, tanh, erf, floor, ceil,
// round, trunc, -x, adding what does not depend on the reduced indices, products with and quotients by a literal that
// is not 0, min and max with what does not depend on them, c / x where x is proved positive, and select(x > 0, x, a*x)
// with a > 0. sqrt and log are not: they are NaN on half of the line. All of them hand on NaN, as max and min do, so
// one NaN in S makes both sides NaN. A reduction with `where` may be empty (-inf, which f would change) and is left
// alone; without it there is at least one point. A cast is monotone too but orders rounding, and is not crossed.
//
// Padding. In max[i](t[2*p+i-1 else -inf]) with t = f(x) the padded points are no elements of S. If every window has a
// point inside, that is f(max[i](x[2*p+i-1 else -inf])); this is checked for every window.
//
// A map that uses its operand more than once (leaky_relu) reads the extremum from a local, which is computed
// everywhere. An extremum below a select is put into one only if it cannot stop at run time: a gather there is in range
// only where it is wanted.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ir/analysis/reads.h"
#include "ir/analysis/stops.h"
#include "ir/condition.h"
#include "ir/equal.h"
#include "ir/rewrite/edit.h"
#include "ir/rewrite/monotone.h"
#include "ir/rewrite/rewrite.h"

namespace solstice::ir {
namespace {

constexpr double kMostWindowPoints = 2e6;

// Has every window of a padded read a point inside?
bool every_window_meets(const Program& program, const Equation& equation, const Expr& read, const IndexSet& binders) {
  IndexSet used;
  const std::vector<ExprRef> indices = read_indices(read);
  for (size_t d = 0; d < indices.size(); ++d) {
    std::vector<int> free, bound;
    if (has_read(indices[d])) return false;
    double points = 1;
    for (const int i : indices_of(indices[d])) {
      (binders.count(i) ? bound : free).push_back(i);
      points *= static_cast<double>(index_of(equation, i).extent);
      if (binders.count(i) && !used.insert(i).second) return false;  // dims of one window that depend on each other
    }
    if (points > kMostWindowPoints) return false;
    std::vector<int64_t> at(equation.indices.size(), 0);
    const auto next = [&](const std::vector<int>& order) {
      for (const int i : order) {
        if (++at[static_cast<size_t>(i)] < index_of(equation, i).extent) return true;
        at[static_cast<size_t>(i)] = 0;
      }
      return false;
    };
    const int64_t extent = program.tensor(read.id).shape[d];
    do {
      bool meets = false;
      do {
        const int64_t value = value_of(*indices[d], at);
        meets = meets || (value >= 0 && value < extent);
      } while (next(bound));
      if (!meets) return false;
    } while (next(free));
  }
  return true;
}

// The padding of a maximum, or of a minimum.
bool pads(const Expr& read, Reducer reducer) {
  const ExprRef& otherwise = read.args.back();
  const double infinite = reducer == Reducer::kMax ? -INFINITY : INFINITY;
  if (otherwise->op == Op::kNeg && otherwise->args[0]->op == Op::kReal) return -otherwise->args[0]->real == infinite;
  return otherwise->op == Op::kReal && otherwise->real == infinite;
}

Reducer flipped(Reducer reducer, bool flip) {
  if (!flip) return reducer;
  return reducer == Reducer::kMax ? Reducer::kMin : Reducer::kMax;
}

class Commuter {
 public:
  // `rewritten` is a copy of `program`; equation `place` of it is changed, and a local may come before it.
  Commuter(const Subject& subject, Program& rewritten, int& place)
      : program_(subject.program()), definitions_(subject.definitions()), rewritten_(rewritten), place_(place) {}

  ExprRef commuted(const ExprRef& reduction) {
    MonotonePeeler outer(equation(), definitions_, *reduction);
    const ExprRef core = outer.peel(reduction->args[0]);
    const Reducer reducer = flipped(reduction->reducer, outer.falls());
    if (core->op == Op::kRead && core->has_else) {
      if (const ExprRef padded = of_padded(*reduction, reducer, *core)) return outer.rebuilt(padded);
    }
    if (outer.layers.empty() || !depends(core, {reduction->binders.begin(), reduction->binders.end()})) return nullptr;
    return behind(outer, *reduction, make_reduce(reducer, reduction->binders, core));
  }

 private:
  Equation& equation() { return rewritten_.equations[static_cast<size_t>(place_)]; }

  // A map that uses its operand more than once reads it. Null: it would be computed at points where `before` was not,
  // and may stop there.
  ExprRef behind(const MonotonePeeler& peeler, const Expr& before, ExprRef reduction) {
    const bool several = std::any_of(peeler.layers.begin(), peeler.layers.end(),
                                     [](const MonotoneLayer& l) { return l.node->op == Op::kSelect; });
    if (several && can_stop(reduction) && is_guarded(equation().rhs, &before)) return nullptr;
    if (several) reduction = hoisted(rewritten_, place_, reduction, std::string(name_of(reduction->reducer)) + "_of");
    return peeler.rebuilt(reduction);
  }

  ExprRef of_padded(const Expr& reduction, Reducer reducer, const Expr& read) {
    const Equation* definition = definitions_.of(read.id);
    const IndexSet binders(reduction.binders.begin(), reduction.binders.end());
    if (!definition || !pads(read, reducer) || !every_window_meets(program_, equation(), read, binders)) return nullptr;
    auto inside = std::make_shared<Expr>(read);
    inside->args.pop_back();
    inside->has_else = false;
    MonotonePeeler peeler(equation(), definitions_, reduction);
    const ExprRef core = peeler.peel(instance(equation(), *definition, *inside));
    // The core is read where the tensor was: it pads alike only if its shape and indices are the tensor's.
    if (peeler.layers.empty() || core->op != Op::kRead || core->has_else) return nullptr;
    if (program_.tensor(core->id).shape != program_.tensor(read.id).shape || core->args.size() != inside->args.size())
      return nullptr;
    for (size_t d = 0; d < core->args.size(); ++d) {
      if (!same(core->args[d], inside->args[d])) return nullptr;
    }
    const Reducer inner = flipped(reducer, peeler.falls());
    const ExprRef padding = make_real(inner == Reducer::kMax ? -INFINITY : INFINITY);
    const ExprRef padded = make_read(core->id, core->kind, core->args, padding);
    return behind(peeler, reduction, make_reduce(inner, reduction.binders, padded));
  }

  const Program& program_;
  const Definitions& definitions_;
  Program& rewritten_;
  int& place_;
};

bool is_extremum(const Expr& e) {
  return (e.reducer == Reducer::kMax || e.reducer == Reducer::kMin) && e.args.size() == 1 && e.kind == ValueKind::kReal;
}

std::optional<Rewritten> commuted_extremum(const Subject& subject, int id) {
  const Program& program = subject.program();
  const std::vector<ExprRef> extrema = reductions_in(program.equation(id).rhs, is_extremum);
  if (program.equation(id).group >= 0 || extrema.empty()) return std::nullopt;
  Rewritten out{program, ""};
  int place = id;
  Commuter commuter(subject, out.program, place);
  for (const ExprRef& reduction : extrema) {
    const ExprRef other = commuter.commuted(reduction);
    if (!other) continue;
    Equation& equation = out.program.equations[static_cast<size_t>(place)];
    equation.rhs = replaced(equation.rhs, reduction.get(), other);
    out.description = fmt::format("a monotone map goes behind the {} over {}", name_of(reduction->reducer),
                                  names_of(program.equation(id), reduction->binders));
    return out;
  }
  return std::nullopt;
}

}  // namespace

extern const Rewrite solstice_rewrites_commute_monotone;
const Rewrite solstice_rewrites_commute_monotone = {
    .name = "commute_monotone",
    .help = "a monotone map of a maximum's or minimum's elements becomes the map of its result",
    .at = commuted_extremum,
};

}  // namespace solstice::ir
