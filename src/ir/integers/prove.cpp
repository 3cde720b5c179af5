// Proofs from facts: by intervals, by elimination, and by trying every point.
#include <algorithm>

#include "base/integer.h"
#include "ir/integers/eliminate.h"
#include "ir/integers/forms.h"
#include "ir/integers/integers.h"
#include "ir/integers/value_at.h"

namespace solstice::ir {
namespace {

constexpr int64_t kSearchedPoints = 1 << 20;

// A form that is not 0 is at most -1 or at least 1: two cases each.
bool infeasible_apart(std::vector<Linear> system, const std::vector<Linear>& unequal, size_t from) {
  if (infeasible(system)) return true;
  if (from == unequal.size()) return false;
  for (const int sign : {1, -1}) {
    std::vector<Linear> one = system;
    one.push_back(plus(constant_form(-1), unequal[from], sign));
    if (!infeasible_apart(std::move(one), unequal, from + 1)) return false;
  }
  return true;
}

}  // namespace

void Integers::assume_comparison(Op op, const Linear& a, const Linear& b) {
  const auto at_least = [&](const Linear& x, const Linear& y, int64_t gap) {
    facts_.push_back(plus(plus(x, y, -1), constant_form(gap), -1));
  };
  switch (op) {
    case Op::kLt:
      return at_least(b, a, 1);
    case Op::kLe:
      return at_least(b, a, 0);
    case Op::kGt:
      return at_least(a, b, 1);
    case Op::kGe:
      return at_least(a, b, 0);
    case Op::kEq:
      at_least(a, b, 0);
      return at_least(b, a, 0);
    case Op::kNe:
      unequal_.push_back(plus(a, b, -1));
      return;
    default:
      return;
  }
}

void Integers::assume(const Fact& fact) {
  const Expr& e = *fact.condition;
  if (e.op == Op::kNot) return assume({e.args[0], !fact.holds});
  if ((e.op == Op::kAnd && fact.holds) || (e.op == Op::kOr && !fact.holds)) {
    assume({e.args[0], fact.holds});
    return assume({e.args[1], fact.holds});
  }
  if (e.op == Op::kAnd || e.op == Op::kOr) either_.push_back(fact);
  if (e.op < Op::kLt || e.op > Op::kGt) return;
  if (e.args[0]->kind == ValueKind::kReal || e.args[1]->kind == ValueKind::kReal) return;
  static const auto negated = [](Op op) {
    switch (op) {
      case Op::kLt:
        return Op::kGe;
      case Op::kLe:
        return Op::kGt;
      case Op::kGt:
        return Op::kLe;
      case Op::kGe:
        return Op::kLt;
      case Op::kEq:
        return Op::kNe;
      default:
        return Op::kEq;
    }
  };
  const Linear a = linear(e.args[0]);
  const Linear b = linear(e.args[1]);
  assume_comparison(fact.holds ? e.op : negated(e.op), a, b);
}

// The variables that bear on the goal: its own, and those that share a fact with them, directly or through others.
std::vector<bool> Integers::reached_from(const Linear& goal, const std::vector<Linear>& more) const {
  std::vector<bool> reached(variables_.size(), false);
  const auto reach = [&](const Linear& form) {
    bool grew = false;
    for (const auto& [v, c] : form.terms) {
      grew |= !reached[static_cast<size_t>(v)];
      reached[static_cast<size_t>(v)] = true;
    }
    return grew;
  };
  const auto touches = [&](const Linear& f) {
    return std::any_of(f.terms.begin(), f.terms.end(),
                       [&](const auto& term) { return reached[static_cast<size_t>(term.first)]; });
  };
  reach(goal);
  for (const Linear& form : more) reach(form);
  for (bool grew = true; grew;) {
    grew = false;
    for (const Linear& f : facts_) {
      if (touches(f)) grew |= reach(f);
    }
    for (size_t v = 0; v < variables_.size(); ++v) {
      if (!reached[v] || !variables_[v].atom) continue;
      walk(variables_[v].atom, [&](const Expr& e) {
        for (size_t i = 0; e.op == Op::kIndex && i < variables_.size(); ++i) {
          if (variables_[i].index == e.id) grew |= reach(variable_form(static_cast<int>(i)));
        }
      });
    }
  }
  return reached;
}

// Forms known not to be 0, of variables that bear on the goal: a few, as each doubles the cases.
std::vector<Linear> Integers::case_splits(const Linear& goal) const {
  constexpr size_t kMost = 4;
  std::vector<Linear> out;
  if (unequal_.empty()) return out;
  const std::vector<bool> reached = reached_from(goal, {});
  for (const Linear& f : unequal_) {
    const bool bears = std::any_of(f.terms.begin(), f.terms.end(),
                                   [&](const auto& term) { return reached[static_cast<size_t>(term.first)]; });
    if (bears && out.size() < kMost) out.push_back(f);
  }
  return out;
}

// The facts and bounds of the variables that bear on the goal.
std::vector<Linear> Integers::relevant(const Linear& goal, const std::vector<Linear>& more) const {
  const std::vector<bool> reached = reached_from(goal, more);
  std::vector<Linear> out;
  for (const Linear& f : facts_) {
    const auto known = [&](const auto& term) { return reached[static_cast<size_t>(term.first)]; };
    if (std::any_of(f.terms.begin(), f.terms.end(), known)) out.push_back(f);
  }
  for (size_t v = 0; v < variables_.size(); ++v) {
    const ValueRange& r = variables_[v].range;
    if (!reached[v]) continue;
    if (r.has_low()) out.push_back(Linear{-r.low, {{static_cast<int>(v), 1}}});
    if (r.has_high()) out.push_back(Linear{r.high, {{static_cast<int>(v), -1}}});
  }
  return out;
}

// The form is one of the facts (the remainder of a division, say) but for a constant.
bool Integers::follows(const Linear& form, int64_t bound) const {
  return std::any_of(facts_.begin(), facts_.end(), [&](const Linear& fact) {
    const Linear rest = plus(form, fact, -1);
    return !rest.overflow && rest.terms.empty() && rest.constant >= bound;
  });
}

Proof Integers::prove_at_least(const Linear& form, int64_t bound) {
  if (interval(form).low >= bound || follows(form, bound)) return Proof::kProved;
  const std::vector<Linear> unequal = case_splits(form);
  std::vector<Linear> system = relevant(form, unequal);
  system.push_back(plus(constant_form(bound - 1), form, -1));  // suppose form <= bound - 1
  if (infeasible_apart(std::move(system), unequal, 0)) return Proof::kProved;
  if (depends_on_data(form)) return Proof::kDataDependent;
  return search(form, bound);
}

Proof Integers::prove_at_most(const Linear& form, int64_t bound) {
  return prove_at_least(plus(constant_form(0), form, -1), -bound);
}

bool Integers::evaluate(const Linear& form, const std::vector<int64_t>& values, int64_t& out) const {
  if (form.overflow) return false;
  out = form.constant;
  for (const auto& [v, c] : form.terms) {
    const Variable& variable = variables_[static_cast<size_t>(v)];
    int64_t value = 0;
    if (variable.index >= 0) {
      value = values[static_cast<size_t>(variable.index)];
    } else if (variable.dividend) {
      if (!evaluate(*variable.dividend, values, value)) return false;
      value = floor_div(value, variable.divisor);
    } else if (const auto known = variable.atom ? value_at(variable.atom, values) : std::nullopt) {
      value = *known;
    } else {
      return false;
    }
    if (!add_scaled(out, c, value, out)) return false;
  }
  return true;
}

void Integers::collect_indices(const Linear& form, std::set<int>& out) const {
  for (const auto& [v, c] : form.terms) {
    const Variable& variable = variables_[static_cast<size_t>(v)];
    if (variable.index >= 0) out.insert(variable.index);
    walk(variable.atom, [&](const Expr& e) {
      if (e.op == Op::kIndex) out.insert(e.id);
    });
  }
}

// The disjunctions that speak of these indices; what else they speak of comes to these.
std::vector<Fact> Integers::alternatives(std::set<int>& indices) const {
  std::vector<Fact> out;
  for (const Fact& fact : either_) {
    std::set<int> own;
    walk(fact.condition, [&](const Expr& e) {
      if (e.op == Op::kIndex) own.insert(e.id);
    });
    if (std::none_of(own.begin(), own.end(), [&](int id) { return indices.count(id) > 0; })) continue;
    indices.insert(own.begin(), own.end());
    out.push_back(fact);
  }
  return out;
}

// Tries every point of the indices involved, if there are few.
Proof Integers::search(const Linear& form, int64_t bound) const {
  const std::vector<Linear> unequal = case_splits(form), system = relevant(form, unequal);
  std::set<int> involved;
  collect_indices(form, involved);
  for (const Linear& f : unequal) collect_indices(f, involved);
  for (const Linear& f : system) collect_indices(f, involved);
  const std::vector<Fact> either = alternatives(involved);
  const int64_t points = points_of(involved).low;
  if (points == 0) return Proof::kProved;
  if (points > kSearchedPoints) return Proof::kUnknown;
  std::vector<int64_t> at(indices_.size(), 0);
  for (int64_t n = 0; n < points; ++n) {
    int64_t value = 0;
    bool inside = true;
    for (size_t f = 0; f < system.size() && inside; ++f) {
      if (!evaluate(system[f], at, value)) return Proof::kUnknown;
      inside = value >= 0;
    }
    for (size_t f = 0; f < unequal.size() && inside; ++f) inside = !evaluate(unequal[f], at, value) || value != 0;
    for (size_t f = 0; f < either.size() && inside; ++f) {
      const auto holds = value_at(either[f].condition, at);
      inside = !holds || (*holds != 0) == either[f].holds;
    }
    if (inside && !evaluate(form, at, value)) return Proof::kUnknown;
    if (inside && value < bound) return Proof::kRefuted;
    for (const int id : involved) {
      if (++at[static_cast<size_t>(id)] < indices_[static_cast<size_t>(id)].extent) break;
      at[static_cast<size_t>(id)] = 0;
    }
  }
  return Proof::kProved;
}

}  // namespace solstice::ir
