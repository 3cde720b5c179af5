#include "ir/bind/integers.h"

#include <algorithm>

#include "base/integer.h"
#include "ir/bind/eliminate.h"
#include "ir/equal.h"

namespace solstice::ir {
namespace {

constexpr int64_t kSearchedPoints = 1 << 20;
__extension__ typedef __int128 Wide;  // products of bounds need more than 64 bits

int64_t saturate(Wide v) { return static_cast<int64_t>(std::clamp<Wide>(v, -kUnbounded, kUnbounded)); }

int64_t scaled(int64_t bound, int64_t factor) { return saturate(static_cast<Wide>(bound) * factor); }

ValueRange hull(ValueRange a, ValueRange b) { return {std::min(a.low, b.low), std::max(a.high, b.high)}; }

Linear constant(int64_t value) { return Linear{value, {}}; }

Linear single(int variable) { return Linear{0, {{variable, 1}}}; }

bool is_constant(const Linear& f) { return f.terms.empty(); }

}  // namespace

Linear plus(const Linear& a, const Linear& b, int64_t factor) {
  Linear out;
  out.constant = a.constant + factor * b.constant;
  size_t i = 0;
  size_t j = 0;
  while (i < a.terms.size() || j < b.terms.size()) {
    const int va = i < a.terms.size() ? a.terms[i].first : std::numeric_limits<int>::max();
    const int vb = j < b.terms.size() ? b.terms[j].first : std::numeric_limits<int>::max();
    int64_t coefficient = 0;
    if (va <= vb) coefficient += a.terms[i++].second;
    if (vb <= va) coefficient += factor * b.terms[j++].second;
    if (coefficient != 0) out.terms.emplace_back(std::min(va, vb), coefficient);
  }
  return out;
}

Integers::Integers(const std::vector<Index>& indices, Values values) : indices_(indices), values_(std::move(values)) {}

int Integers::index_variable(int id) {
  for (size_t v = 0; v < variables_.size(); ++v) {
    if (variables_[v].index == id) return static_cast<int>(v);
  }
  Variable variable;
  variable.index = id;
  variable.range = {0, indices_[static_cast<size_t>(id)].extent - 1};
  variables_.push_back(std::move(variable));
  return static_cast<int>(variables_.size()) - 1;
}

int Integers::variable_of(const ExprRef& e, ValueRange range, bool data) {
  for (size_t v = 0; v < variables_.size(); ++v) {
    if (variables_[v].atom && same(variables_[v].atom, e)) return static_cast<int>(v);
  }
  Variable variable;
  variable.atom = e;
  variable.range = range;
  variable.data = data;
  variables_.push_back(std::move(variable));
  return static_cast<int>(variables_.size()) - 1;
}

int Integers::quotient(const Linear& dividend, int64_t divisor) {
  for (size_t v = 0; v < variables_.size(); ++v) {
    const Variable& known = variables_[v];
    if (known.dividend && known.divisor == divisor && known.dividend->constant == dividend.constant &&
        known.dividend->terms == dividend.terms) {
      return static_cast<int>(v);
    }
  }
  const ValueRange range = interval(dividend);
  Variable variable;
  variable.dividend = dividend;
  variable.divisor = divisor;
  variable.data = depends_on_data(dividend);
  variable.range.low = range.low <= -kUnbounded ? -kUnbounded : floor_div(range.low, divisor);
  variable.range.high = range.high >= kUnbounded ? kUnbounded : floor_div(range.high, divisor);
  variables_.push_back(std::move(variable));
  const int id = static_cast<int>(variables_.size()) - 1;
  const Linear remainder = plus(dividend, single(id), -divisor);
  facts_.push_back(remainder);
  facts_.push_back(plus(constant(divisor - 1), remainder, -1));
  return id;
}

Linear Integers::linear(const ExprRef& e) {
  switch (e->op) {
    case Op::kInt:
    case Op::kBool:
      return constant(e->integer);
    case Op::kIndex:
      return single(index_variable(e->id));
    case Op::kNeg:
      return plus(constant(0), linear(e->args[0]), -1);
    case Op::kAdd:
      return plus(linear(e->args[0]), linear(e->args[1]));
    case Op::kSub:
      return plus(linear(e->args[0]), linear(e->args[1]), -1);
    case Op::kMul: {
      const Linear a = linear(e->args[0]);
      const Linear b = linear(e->args[1]);
      if (is_constant(a)) return plus(constant(0), b, a.constant);
      if (is_constant(b)) return plus(constant(0), a, b.constant);
      return atom(e);
    }
    case Op::kFloorDiv:
    case Op::kMod:
      return division(e);
    case Op::kMin:
    case Op::kMax:
      return extremum(e);
    default:
      return atom(e);
  }
}

Linear Integers::division(const ExprRef& e) {
  const Linear dividend = linear(e->args[0]);
  const Linear divisor = linear(e->args[1]);
  if (!is_constant(divisor) || divisor.constant <= 0) return atom(e);
  const int q = quotient(dividend, divisor.constant);
  return e->op == Op::kFloorDiv ? single(q) : plus(dividend, single(q), -divisor.constant);
}

Linear Integers::extremum(const ExprRef& e) {
  const Linear a = linear(e->args[0]);
  const Linear b = linear(e->args[1]);
  const ValueRange ra = interval(a);
  const ValueRange rb = interval(b);
  const bool least = e->op == Op::kMin;
  const ValueRange range = least ? ValueRange{std::min(ra.low, rb.low), std::min(ra.high, rb.high)}
                                 : ValueRange{std::max(ra.low, rb.low), std::max(ra.high, rb.high)};
  const size_t known = variables_.size();
  const int v = variable_of(e, range, !range.bounded());
  if (variables_.size() > known) {
    for (const Linear& side : {a, b}) facts_.push_back(least ? plus(side, single(v), -1) : plus(single(v), side, -1));
  }
  return single(v);
}

// Anything else is a variable of its own; what fixes its range is known, else it is data.
Linear Integers::atom(const ExprRef& e) {
  if (e->kind == ValueKind::kBool) return single(variable_of(e, {0, 1}, false));
  if (e->op == Op::kRank ||
      (e->op == Op::kReduce && !e->binders.empty() && (e->reducer == Reducer::kArgMax || e->reducer == Reducer::kArgMin))) {
    const int64_t extent = indices_[static_cast<size_t>(e->binders[0])].extent;
    return single(variable_of(e, {0, extent - 1}, false));
  }
  if (e->op == Op::kSelect) {
    const ValueRange range = hull(interval(linear(e->args[1])), interval(linear(e->args[2])));
    return single(variable_of(e, range, !range.bounded()));
  }
  if (e->op == Op::kMul) {
    const ValueRange a = interval(linear(e->args[0]));
    const ValueRange b = interval(linear(e->args[1]));
    const int64_t corners[] = {scaled(a.low, b.low), scaled(a.low, b.high), scaled(a.high, b.low), scaled(a.high, b.high)};
    const ValueRange range{*std::min_element(corners, corners + 4), *std::max_element(corners, corners + 4)};
    return single(variable_of(e, range, !range.bounded()));
  }
  if (e->op == Op::kRead) {
    const auto range = values_(e->id);
    if (range && !e->has_else) return single(variable_of(e, *range, false));
  }
  return single(variable_of(e, ValueRange{}, true));
}

ValueRange Integers::interval(const Linear& form) const {
  Wide low = form.constant;
  Wide high = form.constant;
  for (const auto& [v, c] : form.terms) {
    const ValueRange& r = variables_[static_cast<size_t>(v)].range;
    low += static_cast<Wide>(c) * (c > 0 ? r.low : r.high);
    high += static_cast<Wide>(c) * (c > 0 ? r.high : r.low);
  }
  return {saturate(low), saturate(high)};
}

bool Integers::depends_on_data(const Linear& form) const {
  return std::any_of(form.terms.begin(), form.terms.end(),
                     [&](const auto& term) { return variables_[static_cast<size_t>(term.first)].data; });
}

void Integers::assume_comparison(Op op, const Linear& a, const Linear& b) {
  const auto at_least = [&](const Linear& x, const Linear& y, int64_t gap) { facts_.push_back(plus(plus(x, y, -1), constant(gap), -1)); };
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

// The facts and bounds that share variables with the goal, directly or through others.
std::vector<Linear> Integers::relevant(const Linear& goal) const {
  std::vector<bool> reached(variables_.size(), false);
  std::vector<bool> used(facts_.size(), false);
  for (const auto& [v, c] : goal.terms) reached[static_cast<size_t>(v)] = true;
  std::vector<Linear> out;
  for (bool grew = true; grew;) {
    grew = false;
    for (size_t f = 0; f < facts_.size(); ++f) {
      const auto touches = [&](const auto& term) { return reached[static_cast<size_t>(term.first)]; };
      if (used[f] || !std::any_of(facts_[f].terms.begin(), facts_[f].terms.end(), touches)) continue;
      used[f] = grew = true;
      out.push_back(facts_[f]);
      for (const auto& [v, c] : facts_[f].terms) reached[static_cast<size_t>(v)] = true;
    }
  }
  for (size_t v = 0; v < variables_.size(); ++v) {
    const ValueRange& r = variables_[v].range;
    if (!reached[v]) continue;
    if (r.low > -kUnbounded) out.push_back(Linear{-r.low, {{static_cast<int>(v), 1}}});
    if (r.high < kUnbounded) out.push_back(Linear{r.high, {{static_cast<int>(v), -1}}});
  }
  return out;
}

Proof Integers::prove_at_least(const Linear& form, int64_t bound) {
  if (interval(form).low >= bound) return Proof::kProved;
  std::vector<Linear> system = relevant(form);
  system.push_back(plus(constant(bound - 1), form, -1));  // suppose form <= bound - 1
  if (infeasible(std::move(system))) return Proof::kProved;
  if (depends_on_data(form)) return Proof::kDataDependent;
  return search(form, bound);
}

Proof Integers::prove_at_most(const Linear& form, int64_t bound) { return prove_at_least(plus(constant(0), form, -1), -bound); }

bool Integers::evaluate(const Linear& form, const std::vector<int64_t>& values, int64_t& out) const {
  out = form.constant;
  for (const auto& [v, c] : form.terms) {
    const Variable& variable = variables_[static_cast<size_t>(v)];
    int64_t value = 0;
    if (variable.index >= 0) {
      value = values[static_cast<size_t>(variable.index)];
    } else if (variable.dividend) {
      if (!evaluate(*variable.dividend, values, value)) return false;
      value = floor_div(value, variable.divisor);
    } else {
      return false;
    }
    out += c * value;
  }
  return true;
}

// Tries every point of the indices involved, if there are few.
Proof Integers::search(const Linear& form, int64_t bound) const {
  std::vector<int64_t> extents(indices_.size(), 1);
  int64_t points = 1;
  std::vector<Linear> system = relevant(form);
  system.push_back(form);
  for (const Linear& f : system) {
    for (const auto& [v, c] : f.terms) {
      const int id = variables_[static_cast<size_t>(v)].index;
      if (id < 0 || extents[static_cast<size_t>(id)] != 1) continue;
      extents[static_cast<size_t>(id)] = indices_[static_cast<size_t>(id)].extent;
      if (extents[static_cast<size_t>(id)] <= 0) return Proof::kProved;
      points = scaled(points, extents[static_cast<size_t>(id)]);
      if (points > kSearchedPoints) return Proof::kUnknown;
    }
  }
  std::vector<int64_t> at(indices_.size(), 0);
  for (int64_t n = 0; n < points; ++n) {
    int64_t value = 0;
    bool inside = true;
    for (size_t f = 0; f + 1 < system.size() && inside; ++f) {
      if (!evaluate(system[f], at, value)) return Proof::kUnknown;
      inside = value >= 0;
    }
    if (inside && (!evaluate(form, at, value) || value < bound)) return Proof::kRefuted;
    for (size_t i = 0; i < at.size(); ++i) {
      if (++at[i] < extents[i]) break;
      at[i] = 0;
    }
  }
  return Proof::kProved;
}

}  // namespace solstice::ir
