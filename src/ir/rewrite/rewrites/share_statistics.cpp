// A reduction that an earlier equation computes too is read from there.
//
//   a[m,n] = x[m,n] - mean[j](x[m,j])          mu[m] = mean[j](x[m,j])
//   b[m,n] = x[m,n] * mean[j](x[m,j])     =    a[m,n] = x[m,n] - mu[m];  b[m,n] = x[m,n] * mu[m]
//
// Proof. Both are the same expression up to the names of indices, over the same extents, so they have the same value at the
// same point of their free indices. The earlier one is computed for every such point, in the order of the text before both
// readers; it reads nothing that is defined later, as it stood there already. Equations of a recurrence are left alone. A
// tensor that stores below the precision of what it reads does not stand for the reduction (Definitions::of).
#include <fmt/format.h>

#include <algorithm>

#include "ir/equal.h"
#include "ir/rewrite/edit.h"
#include "ir/rewrite/rewrite.h"

namespace solstice::ir {
namespace {

// The reduction as an equation over its free indices, in the order in which they occur.
Equation as_equation(const Equation& equation, const ExprRef& reduction) {
  Equation out = equation;
  out.free.clear();
  out.lhs.clear();
  const IndexSet own = indices_of(reduction);
  walk(reduction, [&](const Expr& e) {
    if (e.op != Op::kIndex || !own.count(e.id) || std::find(out.free.begin(), out.free.end(), e.id) != out.free.end()) return;
    out.free.push_back(e.id);
    out.lhs.push_back(make_index(e.id));
  });
  out.rhs = reduction;
  return out;
}

std::vector<ExprRef> reductions_in(const ExprRef& root) {
  std::vector<ExprRef> out;
  if (root->op == Op::kReduce && root->kind == ValueKind::kReal) out.push_back(root);
  for (const ExprRef& a : root->args) {
    const std::vector<ExprRef> below = reductions_in(a);
    out.insert(out.end(), below.begin(), below.end());
  }
  return out;
}

struct Shared {
  int first = -1;  // the earlier equation
  ExprRef there, here;
  std::vector<int> indices_there, indices_here;  // partners
};

std::optional<Shared> shared_reduction(const Program& program, int id) {
  const Equation& later = program.equation(id);
  for (const ExprRef& here : reductions_in(later.rhs)) {
    const Equation mine = as_equation(later, here);
    for (int e = 0; e < id; ++e) {
      const Equation& earlier = program.equation(e);
      if (earlier.group >= 0) continue;
      for (const ExprRef& there : reductions_in(earlier.rhs)) {
        const Equation other = as_equation(earlier, there);
        if (other.free.size() != mine.free.size() || structural_hash(program, other) != structural_hash(program, mine)) continue;
        if (same_up_to_names(program, other, program, mine)) return Shared{e, there, here, other.free, mine.free};
      }
    }
  }
  return std::nullopt;
}

std::vector<ExprRef> points_here(const Shared& shared, const std::vector<ExprRef>& there) {
  std::vector<ExprRef> out;
  for (const ExprRef& index : there) {
    const auto place = std::find(shared.indices_there.begin(), shared.indices_there.end(), index->id) - shared.indices_there.begin();
    out.push_back(make_index(shared.indices_here[static_cast<size_t>(place)]));
  }
  return out;
}

std::optional<Rewritten> with_shared_statistic(const Program& program, int id) {
  if (program.equation(id).group >= 0) return std::nullopt;
  const std::optional<Shared> shared = shared_reduction(program, id);
  if (!shared) return std::nullopt;
  Rewritten out{program, ""};
  const Equation& first = program.equation(shared->first);
  const bool whole = first.rhs == shared->there && Definitions(program).of(first.target) == &first;
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
    .at = with_shared_statistic,
};

}  // namespace solstice::ir
