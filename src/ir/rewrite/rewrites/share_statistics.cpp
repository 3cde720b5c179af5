// A reduction that an earlier equation computes too is read from there.
//
//   a[m,n] = x[m,n] - mean[j](x[m,j])          mu[m] = mean[j](x[m,j])
//   b[m,n] = x[m,n] * mean[j](x[m,j])     =    a[m,n] = x[m,n] - mu[m];  b[m,n] = x[m,n] * mu[m]
//
// Proof. Both are the same expression up to the names of indices, over the same extents, so they have the same value at
// the same point of their free indices. The earlier one is computed for every such point, in the order of the text
// before both readers; it reads nothing that is defined later, as it stood there already. Equations of a recurrence are
// left alone. A reduction that may stop at run time (a gather) is not taken from below a select, where it was not
// computed at every point. A number that equals a dim is no dim: both must be written alike, so that they stay equal at
// other dims. A tensor that stores below the precision of what it reads does not stand for the reduction
// (Definitions::of).
#include <fmt/format.h>

#include <algorithm>

#include "ir/analysis/stops.h"
#include "ir/equal.h"
#include "ir/rewrite/edit.h"
#include "ir/rewrite/rewrite.h"

namespace solstice::ir {
namespace {

// The reduction as an equation over its free indices, in the order in which they occur.
struct Shared {
  int first = -1;  // the earlier equation
  ExprRef there, here;
  std::vector<int> indices_there, indices_here;  // partners
};

std::optional<Shared> shared_reduction(const Subject& subject, int id) {
  for (const LoneReduction& here : subject.reductions_of(id)) {
    for (const LoneReduction* there : subject.like(here)) {
      if (there->equation >= id) break;
      if (there->alone.free.size() != here.alone.free.size()) continue;
      if (!same_up_to_names(subject.program(), there->alone, subject.program(), here.alone)) continue;
      if (!subject.written_alike(there->node, here.node)) continue;
      if (can_stop(there->node) && is_guarded(subject.program().equation(there->equation).rhs, there->node.get()))
        continue;
      return Shared{there->equation, there->node, here.node, there->alone.free, here.alone.free};
    }
  }
  return std::nullopt;
}

std::vector<ExprRef> points_here(const Shared& shared, const std::vector<ExprRef>& there) {
  std::vector<ExprRef> out;
  for (const ExprRef& index : there) {
    const auto place =
        std::find(shared.indices_there.begin(), shared.indices_there.end(), index->id) - shared.indices_there.begin();
    out.push_back(make_index(shared.indices_here[static_cast<size_t>(place)]));
  }
  return out;
}

std::optional<Rewritten> with_shared_statistic(const Subject& subject, int id) {
  const Program& program = subject.program();
  if (program.equation(id).group >= 0) return std::nullopt;
  const std::optional<Shared> shared = shared_reduction(subject, id);
  if (!shared) return std::nullopt;
  Rewritten out{program, ""};
  const Equation& first = program.equation(shared->first);
  const bool whole = first.rhs == shared->there && subject.definitions().of(first.target) == &first;
  int place = shared->first;
  ExprRef read;
  if (whole) {
    read = make_read(first.target, shared->there->kind, first.lhs);
  } else {
    read = hoisted(out.program, place, shared->there, std::string(name_of(shared->there->reducer)) + "_of");
    Equation& reader = out.program.equations[static_cast<size_t>(place)];
    reader.rhs = replaced(reader.rhs, shared->there.get(), read);
  }
  Equation& later = out.program.equations[static_cast<size_t>(id + place - shared->first)];
  const ExprRef here = make_read(read->id, read->kind, points_here(*shared, read->args));
  later.rhs = replaced(later.rhs, shared->here.get(), here);
  out.description = fmt::format("`{}` reads the {} that `{}` has", program.target_of(program.equation(id)).name,
                                name_of(shared->here->reducer), out.program.tensor(read->id).name);
  return out;
}

}  // namespace

extern const Rewrite solstice_rewrites_share_statistics;
const Rewrite solstice_rewrites_share_statistics = {
    .name = "share_statistics",
    .help = "a reduction that an earlier equation computes too is computed once",
    .keeps_nonfinite = true,
    .at = with_shared_statistic,
};

}  // namespace solstice::ir
