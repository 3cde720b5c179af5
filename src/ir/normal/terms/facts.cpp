#include "ir/normal/terms/facts.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/integer.h"
#include "ir/integers/eliminate.h"
#include "ir/normal/terms/range.h"

namespace solstice::ir::normal {
namespace {

constexpr size_t kMostFacts = 24;  // elimination squares their number

class Facts {
 public:
  explicit Facts(const Pool& pool) : pool_(pool) {}

  // Nothing: not a condition on integers.
  std::optional<std::vector<Linear>> forms(TermId condition) {
    const Term& t = pool_.at(condition);
    if (!compares_with_zero(pool_, t) || (t.op != Op::kGe && t.op != Op::kEq) || !pool_.is_integral(t.args[0]))
      return std::nullopt;
    const Linear form = linear(t.args[0]);
    if (t.op == Op::kGe) return std::vector<Linear>{form};
    return std::vector<Linear>{form, plus(Linear{}, form, -1)};
  }

  std::vector<Linear>& system() { return system_; }

 private:
  Linear linear(TermId id) {
    const Term& t = pool_.at(id);
    if (t.kind == Kind::kConst) return Linear{t.number.num, {}};
    if (t.kind == Kind::kSum) {
      Linear out;
      for (size_t i = 0; i < t.args.size(); ++i) out = plus(out, linear(t.args[i]), t.weights[i].num);
      return out;
    }
    return atom(id);
  }

  Linear atom(TermId id) {
    const auto [it, made] = variables_.emplace(id, static_cast<int>(variables_.size()));
    const int v = it->second;
    if (!made) return Linear{0, {{v, 1}}};
    const ValueRange range = range_of(pool_, id);
    if (range.has_low()) system_.push_back(Linear{-range.low, {{v, 1}}});
    if (range.has_high()) system_.push_back(Linear{range.high, {{v, -1}}});
    const Term& t = pool_.at(id);
    const bool division =
        t.kind == Kind::kOp && (t.op == Op::kFloorDiv || t.op == Op::kMod) && pool_.at(t.args[1]).kind == Kind::kConst;
    if (division && pool_.at(t.args[1]).number.num > 0) divided(t, v);
    return Linear{0, {{v, 1}}};
  }

  // 0 <= a - c*q < c, where v is q, or a - c*q = v, where v is the remainder.
  void divided(const Term& t, int v) {
    const int64_t c = pool_.at(t.args[1]).number.num;
    const Linear dividend = linear(t.args[0]);
    if (t.op == Op::kFloorDiv) {
      const Linear rest = plus(dividend, Linear{0, {{v, 1}}}, -c);
      system_.push_back(rest);
      system_.push_back(plus(Linear{c - 1, {}}, rest, -1));
      return;
    }
    const auto q = variables_.emplace(-1 - v, static_cast<int>(variables_.size())).first->second;
    const Linear rest = plus(plus(dividend, Linear{0, {{q, 1}}}, -c), Linear{0, {{v, 1}}}, -1);
    system_.push_back(rest);
    system_.push_back(plus(Linear{}, rest, -1));
  }

  const Pool& pool_;
  std::map<TermId, int> variables_;
  std::vector<Linear> system_;
};

}  // namespace

bool compares_with_zero(const Pool& pool, const Term& t) {
  return t.kind == Kind::kOp && t.op >= Op::kLt && t.op <= Op::kGt && pool.is_const(t.args[1], 0);
}

bool implied(const Pool& pool, const std::vector<TermId>& known, TermId condition) {
  Facts facts(pool);
  const auto goal = facts.forms(condition);
  if (!goal) return false;
  std::vector<Linear> assumed;
  for (const TermId k : known) {
    if (const auto forms = facts.forms(k)) assumed.insert(assumed.end(), forms->begin(), forms->end());
  }
  assumed.insert(assumed.end(), facts.system().begin(), facts.system().end());
  if (assumed.size() > kMostFacts) return false;
  for (const Linear& form : *goal) {
    std::vector<Linear> system = assumed;
    system.push_back(plus(Linear{-1, {}}, form, -1));  // suppose form <= -1
    if (!infeasible(std::move(system))) return false;
  }
  return true;
}

bool contradictory(const Pool& pool, const std::vector<TermId>& known) {
  Facts facts(pool);
  std::vector<Linear> system;
  for (const TermId k : known) {
    if (const auto forms = facts.forms(k)) system.insert(system.end(), forms->begin(), forms->end());
  }
  system.insert(system.end(), facts.system().begin(), facts.system().end());
  return system.size() <= kMostFacts && infeasible(std::move(system));
}

namespace {

// A binder's value: a number, or another index (then `number` is 0).
struct Witness {
  int64_t number = 0;
  int variable = -1;
};

bool holds_at(const Pool& pool, TermId condition, const std::map<int, Witness>& at) {
  const Term& c = pool.at(condition);
  if (!compares_with_zero(pool, c) || (c.op != Op::kGe && c.op != Op::kEq) || !pool.is_integral(c.args[0]))
    return false;
  const Term& form = pool.at(c.args[0]);
  const bool sum = form.kind == Kind::kSum;
  const std::vector<TermId> terms = sum ? form.args : std::vector<TermId>{c.args[0]};
  Wide low = 0, high = 0;
  std::map<int, Wide> weights;
  for (size_t i = 0; i < terms.size(); ++i) {
    const Term& t = pool.at(terms[i]);
    const Wide w = sum ? form.weights[i].num : 1;
    if (t.kind == Kind::kConst) {
      low += w * t.number.num, high += w * t.number.num;
    } else if (t.kind == Kind::kVar) {
      const auto found = at.find(t.id);
      if (found != at.end()) low += w * found->second.number, high += w * found->second.number;
      if (found == at.end())
        weights[t.id] += w;
      else if (found->second.variable >= 0)
        weights[found->second.variable] += w;
    } else {
      return false;
    }
  }
  for (const auto& [v, w] : weights) (w > 0 ? high : low) += w * (pool.var(v).extent - 1);
  return c.op == Op::kGe ? low >= 0 : low == 0 && high == 0;
}

std::vector<Witness> witnesses(const Pool& pool, int binder, const std::set<int>& others) {
  const int64_t extent = pool.var(binder).extent;
  std::vector<Witness> out;
  for (const int64_t value : {int64_t{0}, extent - 1, extent / 2, int64_t{1}}) {
    const bool known = std::any_of(out.begin(), out.end(), [&](const Witness& w) { return w.number == value; });
    if (value >= 0 && value < extent && !known) out.push_back({value, -1});
  }
  for (const int v : others) {
    if (pool.var(v).extent <= extent) out.push_back({0, v});
  }
  return out;
}

}  // namespace

bool has_point(const Pool& pool, const std::vector<int>& binders, const std::vector<TermId>& conditions) {
  if (std::any_of(binders.begin(), binders.end(), [&](int b) { return pool.var(b).extent <= 0; })) return false;
  if (conditions.empty()) return true;
  std::set<int> others;
  for (const TermId c : conditions) others.insert(pool.at(c).free.begin(), pool.at(c).free.end());
  for (const int b : binders) others.erase(b);
  std::vector<std::pair<int, std::vector<Witness>>> choices;
  size_t points = 1;
  for (const int b : binders) {
    const bool used = std::any_of(conditions.begin(), conditions.end(), [&](TermId c) { return pool.depends(c, b); });
    choices.emplace_back(b, used ? witnesses(pool, b, others) : std::vector<Witness>{{}});
    points *= choices.back().second.size();
  }
  constexpr size_t kMostPoints = 4096;
  for (size_t n = 0; n < std::min(points, kMostPoints); ++n) {
    std::map<int, Witness> at;
    size_t rest = n;
    for (const auto& [b, values] : choices) at[b] = values[rest % values.size()], rest /= values.size();
    if (std::all_of(conditions.begin(), conditions.end(), [&](TermId c) { return holds_at(pool, c, at); })) return true;
  }
  return false;
}

namespace {

// The sides of an `or` that may hold with the others; nothing: none may.
std::optional<TermId> possible_sides(Pool& pool, const std::vector<TermId>& others, TermId condition) {
  std::vector<TermId> sides;
  for (const TermId side : pool.at(condition).args) {
    std::vector<TermId> all = others;
    const Term& t = pool.at(side);
    if (t.kind == Kind::kOp && t.op == Op::kAnd)
      all.insert(all.end(), t.args.begin(), t.args.end());
    else
      all.push_back(side);
    if (!contradictory(pool, all)) sides.push_back(side);
  }
  if (sides.empty()) return std::nullopt;
  return sides.size() == 1 ? sides[0] : pool.op(Op::kOr, std::move(sides));
}

}  // namespace

std::optional<std::vector<TermId>> tidied(Pool& pool, std::vector<TermId> conditions) {
  std::sort(conditions.begin(), conditions.end());
  conditions.erase(std::unique(conditions.begin(), conditions.end()), conditions.end());
  if (conditions.size() <= 1) return conditions;
  for (const TermId c : conditions) {
    const Term& t = pool.at(c);
    const bool negates = t.kind == Kind::kOp && t.op == Op::kNot;
    if (negates && std::binary_search(conditions.begin(), conditions.end(), t.args[0])) return std::nullopt;
  }
  for (size_t c = 0; c < conditions.size(); ++c) {
    if (pool.at(conditions[c]).kind != Kind::kOp || pool.at(conditions[c]).op != Op::kOr) continue;
    std::vector<TermId> others = conditions;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(c));
    const auto sides = possible_sides(pool, others, conditions[c]);
    if (!sides) return std::nullopt;
    conditions[c] = *sides;
  }
  if (contradictory(pool, conditions)) return std::nullopt;
  for (size_t c = 0; c < conditions.size() && conditions.size() > 1;) {
    std::vector<TermId> others = conditions;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(c));
    if (implied(pool, others, conditions[c]))
      conditions = std::move(others);
    else
      ++c;
  }
  return conditions;
}

}  // namespace solstice::ir::normal
