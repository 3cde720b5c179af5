// Pass 2, `hoist`: definitions take the place of their reads, so that every reduction is a term over exactly the
// indices it depends on, and equal ones are one.
//
//   t[i] = e(i); ... t[a] ...          becomes   ... e(a) ...
//   t[i] = e(i); ... t[a else v] ...   becomes   ... select(a within t, e(a), v) ...
//
// Proof. A tensor defined in one piece over bare indices equals its definition at every element; in the real meaning
// storing changes nothing. Tensors in pieces are left to the pass `pieces`, recurrences stay reads. With `keep_nodes` a
// tensor whose definition has a reduction stays a read: the nodes of the DAG that is shown.
#include <algorithm>

#include "ir/normal/passes.h"

namespace solstice::ir::normal {
namespace {

class Hoister {
 public:
  explicit Hoister(Form& form) : form_(form), pool_(form.pool), inlined_(form.program.tensors.size(), -1) {
    for (size_t d = 0; d < form.definitions.size(); ++d) ++pieces_[form.definitions[d].tensor];
  }

  void run() {
    Rewriter rewrite(pool_, [this](TermId t) { return change(t); });
    for (size_t d = 0; d < form_.definitions.size(); ++d) {
      Definition& definition = form_.definitions[d];
      definition.value = rewrite(definition.value);
      if (stands_for_reads(definition)) inlined_[static_cast<size_t>(definition.tensor)] = static_cast<int>(d);
    }
    for (Root& r : form_.roots) r.value = rewrite(r.value);
    drop_unused(form_);
  }

 private:
  bool stands_for_reads(const Definition& d) const {
    const bool bare =
        std::all_of(d.left.begin(), d.left.end(), [&](TermId i) { return pool_.at(i).kind == Kind::kVar; });
    if (form_.shared.count(d.tensor) || d.recurrent || !bare || pieces_.at(d.tensor) != 1) return false;
    return !form_.wanted.count(d.tensor) && (!form_.keep_nodes || pool_.at(d.value).level == 0);
  }

  TermId change(TermId id) {
    const Term& t = pool_.at(id);
    if (t.kind != Kind::kRead) return id;
    const int tensor = form_.tensor_of(t.id);
    const int found = tensor < 0 ? -1 : inlined_[static_cast<size_t>(tensor)];
    if (found < 0) return id;
    const Definition& d = form_.definitions[static_cast<size_t>(found)];
    const std::vector<TermId> at(t.args.begin(), t.args.begin() + static_cast<std::ptrdiff_t>(d.left.size()));
    Substitution values;
    for (size_t i = 0; i < at.size(); ++i) values[pool_.at(d.left[i]).id] = at[i];
    const TermId value = pool_.substitute(d.value, values);
    if (!t.has_else) return value;
    return pool_.op(Op::kSelect,
                    {all_of(pool_, within(pool_, form_.program.tensor(tensor).shape, at)), value, t.args.back()});
  }

  Form& form_;
  Pool& pool_;
  std::vector<int> inlined_;  // by tensor: the definition that stands for its reads
  std::map<int, int> pieces_;
};

}  // namespace

void hoist(Form& form) { Hoister(form).run(); }

}  // namespace solstice::ir::normal
