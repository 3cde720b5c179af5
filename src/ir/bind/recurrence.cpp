// E010: equations that read each other cyclically advance along one common index. Every read inside the cycle
// is of an earlier step, or of this step and an equation above.
#include <fmt/format.h>

#include <algorithm>

#include "ir/bind/binder.h"

namespace solstice::ir {
namespace {

int index_named(const Equation& e, const std::string& name) {
  for (const int id : e.free) {
    if (e.indices[static_cast<size_t>(id)].name == name) return id;
  }
  return -1;
}

// The dimension that the index advances along: `step + offset` on the left, in one dimension alone.
std::optional<std::pair<size_t, int64_t>> place_of(const Equation& e, int step) {
  std::optional<std::pair<size_t, int64_t>> out;
  for (size_t d = 0; d < e.lhs.size(); ++d) {
    const Affine form = *as_affine(e.lhs[d]);
    if (form.coefficient(step) == 0) continue;
    if (out || form.terms.size() != 1 || form.coefficient(step) != 1) return std::nullopt;
    out = std::pair(d, form.offset);
  }
  return out;
}

}  // namespace

bool Binder::try_step(const std::vector<int>& members, const std::string& name, int sign) {
  Writers writers;
  for (size_t m = 0; m < members.size(); ++m) {
    writers[drafts_[static_cast<size_t>(members[m])].equation.target].push_back(static_cast<int>(m));
  }
  for (size_t reader = 0; reader < members.size(); ++reader) {
    Draft& d = drafts_[static_cast<size_t>(members[reader])];
    const int step = index_named(d.equation, name);
    for (const TensorRead& r : d.reads) {
      const auto found = writers.find(r.read->id);
      if (found == writers.end()) continue;
      for (const int m : found->second) {
        const auto writer = static_cast<size_t>(m);
        const Equation& w = drafts_[static_cast<size_t>(members[writer])].equation;
        if (!may_touch(d, r, w)) continue;
        const auto place = place_of(w, index_named(w, name));
        Integers known = integers(d, r.facts);
        // The writer's step that the read sees, against this one.
        Linear gap = plus(known.linear(make_index(step)), known.linear(r.read->args[place->first]), -1);
        gap.constant += place->second;
        if (sign < 0) gap = plus(Linear{}, gap, -1);
        if (known.prove_at_least(gap, 1) == Proof::kProved) continue;
        const bool this_step = !gap.overflow && gap.terms.empty() && gap.constant == 0;
        if (this_step && writer > reader) early_read_ = &r;
        if (!this_step || writer >= reader) return false;
      }
    }
  }
  const int group = groups_++;
  for (const int m : members) {
    Equation& e = drafts_[static_cast<size_t>(m)].equation;
    e.group = group;
    e.step_index = index_named(e, name);
    e.step_sign = sign;
  }
  return true;
}

bool Binder::try_step(const std::vector<int>& members, const std::string& name) {
  for (const int m : members) {
    const Equation& e = drafts_[static_cast<size_t>(m)].equation;
    const int step = index_named(e, name);
    if (step < 0 || !place_of(e, step)) return false;
  }
  return try_step(members, name, +1) || try_step(members, name, -1);
}

void Binder::report_cycle(const Draft& first) {
  if (early_read_) {
    const std::string& read = program_.tensor(early_read_->read->id).name;
    error("E010", early_read_->span,
          fmt::format("`{}` is read at the step of its own equation, which stands below this one", read),
          fmt::format("equations of one step run in text order: move that of `{}` above this one", read));
    return;
  }
  const std::string name = program_.target_of(first.equation).name;
  Span where = first.equation.span;
  for (const TensorRead& r : first.reads) {
    if (r.read->id == first.equation.target) where = r.span;
  }
  error("E010", where, fmt::format("`{}` is read while it is being defined, not at an earlier step of one index", name),
        fmt::format("a recurrence reads a constant earlier step and gives the initial state: `{}[..., t-1 else 0]`; "
                    "all equations of the cycle share the index `t`",
                    name));
}

void Binder::check_recurrence(const std::vector<int>& members) {
  const Equation& first = drafts_[static_cast<size_t>(members[0])].equation;
  early_read_ = nullptr;
  for (const int id : first.free) {
    if (try_step(members, first.indices[static_cast<size_t>(id)].name)) return;
  }
  report_cycle(drafts_[static_cast<size_t>(members[0])]);
  for (const int m : members) {
    drafts_[static_cast<size_t>(m)].failed = true;
    states_[static_cast<size_t>(drafts_[static_cast<size_t>(m)].equation.target)].poisoned = true;
  }
}

}  // namespace solstice::ir
