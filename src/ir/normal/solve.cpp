// Pass 4, `solve`: affine equalities determine a bound index, so that a convolution and its `where` form are one term.
//
//   R[.., v where k*v + rest == 0](e)   =   R[.. where |k| divides rest and v is in range](e with v = -rest/k)
//
// The steps and why they hold are in domain.cpp. Equalities that depend on data stay, as scatters. Positions (argmax, a
// ranking) keep their index.
#include "ir/normal/expression.h"
#include "ir/normal/passes.h"

namespace solstice::ir::normal {

TermId with_domain(Pool& pool, Expressions& normal, TermId id, Expressions::Steps steps) {
  const Term t = pool.at(id);
  const bool box = t.reducer <= Reducer::kMin || t.reducer == Reducer::kAny || t.reducer == Reducer::kAll;
  if (t.kind != Kind::kReduce || !box) return id;
  Domain domain{t.binders, {t.args.begin() + 1, t.args.end()}, {t.args[0]}, false};
  normal.simplify(domain, steps);
  if (domain.empty) return of_nothing(pool, t.reducer);
  if (domain.binders.empty()) {
    const TermId holds = all_of(pool, domain.conditions);
    return normal.is_true(holds) ? domain.carried[0]
                                 : pool.op(Op::kSelect, {holds, domain.carried[0], of_nothing(pool, t.reducer)});
  }
  std::vector<TermId> args = domain.carried;
  args.insert(args.end(), domain.conditions.begin(), domain.conditions.end());
  return pool.reduce(t.reducer, domain.binders, args);
}

void solve(Form& form) {
  Expressions normal(form.pool, form.enabled);
  rewrite_all(form, [&](TermId t) { return with_domain(form.pool, normal, t, {true, false, false}); });
}

}  // namespace solstice::ir::normal
