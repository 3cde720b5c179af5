// Pass 1, `expand`: derived reductions in terms of the primitive ones, and closed forms of buffers.
//
//   mean[b where c](e)      = sum[b where c](e) / sum[b where c](1)
//   var[b where c](e)       = mean[b where c]((e - mean[b where c](e)) ** 2)
//   logsumexp[b where c](e) = log(sum[b where c](exp(e)))
//   buffer[i]               = its closed form at i, under `assume`
//
// Calls, fns and views are expanded, schedules, layouts and storage dtypes gone since the program was bound.
//
// Proof. These are the language's definitions (docs/language.md, section 6); over the reals logsumexp needs no shift.
// Of an empty domain mean and var are 0/0 and logsumexp is log(0), on both sides. A closed form holds for every
// element: the wrapper checks it whenever the buffer changes.
#include <algorithm>

#include "ir/normal/passes.h"

namespace solstice::ir::normal {
namespace {

class Expander {
 public:
  explicit Expander(Form& form) : form_(form), pool_(form.pool) {}

  TermId change(TermId id) {
    const Term& t = pool_.at(id);
    if (t.kind == Kind::kRead) return assumed(id);
    if (t.kind != Kind::kReduce) return id;
    switch (t.reducer) {
      case Reducer::kMean:
        return mean(t.binders, t.args);
      case Reducer::kVar:
        return variance(t.binders, t.args);
      case Reducer::kLogSumExp: {
        std::vector<TermId> args = t.args;
        args[0] = pool_.op(Op::kExp, {args[0]});
        return pool_.op(Op::kLog, {pool_.reduce(Reducer::kSum, t.binders, args)});
      }
      default:
        return id;
    }
  }

 private:
  TermId mean(const std::vector<int>& binders, std::vector<TermId> args) {
    const TermId total = pool_.reduce(Reducer::kSum, binders, args);
    args[0] = pool_.constant(1);
    return pool_.op(Op::kDiv, {total, pool_.reduce(Reducer::kSum, binders, args)});
  }

  TermId variance(const std::vector<int>& binders, const std::vector<TermId>& args) {
    std::vector<int> inner;
    Substitution names;
    for (const int b : binders) {
      inner.push_back(pool_.fresh(pool_.var(b).name, pool_.var(b).extent));
      names[b] = pool_.variable(inner.back());
    }
    std::vector<TermId> inner_args;
    for (const TermId a : args) inner_args.push_back(pool_.substitute(a, names));
    std::vector<TermId> outer = args;
    outer[0] = pool_.op(Op::kPow, {pool_.op(Op::kSub, {args[0], mean(inner, inner_args)}), pool_.constant(2)});
    return mean(binders, outer);
  }

  TermId assumed(TermId id) {
    const Term t = pool_.at(id);
    const int tensor = form_.tensor_of(t.id);
    for (const Definition& d : form_.assumptions) {
      if (d.tensor != tensor) continue;
      Substitution values;
      for (size_t i = 0; i < d.left.size(); ++i) {
        if (pool_.at(d.left[i]).kind == Kind::kVar) values[pool_.at(d.left[i]).id] = t.args[i];
      }
      const TermId value = pool_.substitute(d.value, values);
      const std::vector<TermId> at(t.args.begin(), t.args.begin() + static_cast<std::ptrdiff_t>(d.left.size()));
      const auto inside = within(pool_, form_.program.tensor(tensor).shape, at);
      return t.has_else ? pool_.op(Op::kSelect, {all_of(pool_, inside), value, t.args.back()}) : value;
    }
    return id;
  }

  Form& form_;
  Pool& pool_;
};

}  // namespace

void expand(Form& form) {
  Expander expander(form);
  rewrite_all(form, [&](TermId t) { return expander.change(t); });
}

}  // namespace solstice::ir::normal
