// Pass 3, `split_radix`: reshapes become renamings.
//
//   R[v](e), with v//c or v%c in e and c dividing the extent of v   =   R[a,b](e with v = c*a + b), b < c
//   and indices without the `//` and `%` that their ranges decide (arithmetic.cpp); an index of one value is 0
//
// Proof. (a, b) -> c*a + b is a bijection of the digits' box onto v's range. Digits of the left side take part where a
// tensor is compared at its pieces' own patterns (prove.cpp). Reshapes without a common refinement keep `//` and `%`.
#include <algorithm>

#include "ir/normal/expression.h"
#include "ir/normal/passes.h"

namespace solstice::ir::normal {
namespace {

class Splitter {
 public:
  explicit Splitter(Form& form) : pool_(form.pool), normal_(form.pool, form.enabled) {}

  TermId change(TermId id) {
    const Term& t = pool_.at(id);
    if (t.kind == Kind::kRead) return indices(id);
    const bool position =
        t.reducer >= Reducer::kArgTop || t.reducer == Reducer::kArgMax || t.reducer == Reducer::kArgMin;
    if (t.kind != Kind::kReduce || position) return id;
    TermId out = id;
    for (int round = 0; round < kMostDigits && pool_.at(out).kind == Kind::kReduce; ++round) {
      const TermId next = split(out);
      if (next == out) break;
      out = next;
    }
    return out;
  }

 private:
  static constexpr int kMostDigits = 16;

  TermId indices(TermId id) {
    const Term& t = pool_.at(id);
    std::vector<TermId> args = t.args;
    for (size_t i = 0; i + (t.has_else ? 1 : 0) < args.size(); ++i) args[i] = normal_.of_integers(args[i]);
    return pool_.with_args(id, std::move(args));
  }

  // The least c >= 2 by which v is divided below `t`; 0: none.
  int64_t radix(TermId id, int v, std::set<TermId>& seen) const {
    if (!pool_.depends(id, v) || !seen.insert(id).second) return 0;
    const Term& t = pool_.at(id);
    int64_t best = 0;
    if (t.kind == Kind::kOp && (t.op == Op::kFloorDiv || t.op == Op::kMod) &&
        pool_.at(t.args[1]).kind == Kind::kConst) {
      const Term& dividend = pool_.at(t.args[0]);
      const int64_t c = pool_.at(t.args[1]).number.num;
      if (dividend.kind == Kind::kVar && dividend.id == v && c >= 2 && c < pool_.var(v).extent &&
          pool_.var(v).extent % c == 0)
        best = c;
    }
    for (const TermId a : t.args) {
      const int64_t other = radix(a, v, seen);
      if (other != 0 && (best == 0 || other < best)) best = other;
    }
    return best;
  }

  TermId split(TermId id) {
    const Term t = pool_.at(id);
    for (const int v : t.binders) {
      const int64_t extent = pool_.var(v).extent;
      std::set<TermId> seen;
      int64_t c = 0;
      for (const TermId a : t.args) {
        const int64_t each = extent == 1 ? 0 : radix(a, v, seen);
        if (each != 0 && (c == 0 || each < c)) c = each;
      }
      if (c == 0 && extent != 1) continue;
      std::vector<int> binders = t.binders;
      std::erase(binders, v);
      if (extent == 1 && binders.empty()) continue;
      TermId value = pool_.constant(0);
      if (c != 0) {
        const int high = pool_.fresh(pool_.var(v).name, extent / c), low = pool_.fresh(pool_.var(v).name, c);
        binders.insert(binders.end(), {high, low});
        value =
            pool_.op(Op::kAdd, {pool_.op(Op::kMul, {pool_.constant(c), pool_.variable(high)}), pool_.variable(low)});
      }
      std::vector<TermId> args;
      Rewriter tidy(pool_, [&](TermId a) { return pool_.at(a).kind == Kind::kRead ? indices(a) : a; });
      for (const TermId a : t.args) args.push_back(tidy(pool_.substitute(a, {{v, value}})));
      for (size_t i = 1; i < args.size(); ++i) args[i] = normal_.of_integers(args[i]);
      return pool_.reduce(t.reducer, binders, args);
    }
    return id;
  }

  Pool& pool_;
  Expressions normal_;
};

}  // namespace

void split_radix(Form& form) {
  Splitter splitter(form);
  rewrite_all(form, [&](TermId t) { return splitter.change(t); });
}

}  // namespace solstice::ir::normal
