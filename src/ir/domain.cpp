#include "ir/domain.h"

#include <algorithm>
#include <iterator>
#include <optional>

namespace solstice::ir {
namespace {

void collect(const ExprRef& e, IndexSet& bound, IndexSet& out) {
  if (!e) return;
  if (e->op == Op::kIndex && !bound.count(e->id)) out.insert(e->id);
  IndexSet inner = bound;
  inner.insert(e->binders.begin(), e->binders.end());
  for (const ExprRef& arg : e->args) collect(arg, e->binders.empty() ? bound : inner, out);
}

}  // namespace

IndexSet indices_of(const ExprRef& e) {
  IndexSet bound, out;
  collect(e, bound, out);
  return out;
}

IndexSet united(const IndexSet& a, const IndexSet& b) {
  IndexSet out = a;
  out.insert(b.begin(), b.end());
  return out;
}

IndexSet without(const IndexSet& a, const IndexSet& b) {
  IndexSet out;
  std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::inserter(out, out.end()));
  return out;
}

Domain::Domain(const Equation& equation) {
  for (const Index& index : equation.indices) extents_.push_back(index.extent);
}

void Domain::keep(int index, const Marks& values) {
  if (std::find(values.begin(), values.end(), false) == values.end()) return;
  const auto [known, fresh] = kept_.emplace(index, values);
  for (size_t i = 0; !fresh && i < values.size(); ++i) known->second[i] = known->second[i] && values[i];
}

Domain Domain::with(const ExprRef& condition, bool negated) const {
  Domain out = *this;
  out.add(condition, negated);
  return out;
}

void Domain::add(const ExprRef& condition, bool negated) {
  if (condition->op == (negated ? Op::kOr : Op::kAnd)) {
    for (const ExprRef& part : condition->args) add(part, negated);
  } else if (condition->op == Op::kNot) {
    add(condition->args[0], !negated);
  } else if (!has_read(condition)) {
    conditions_.push_back({condition, negated, indices_of(condition)});
  } else if (condition->op == Op::kEq && !negated) {
    for (const ExprRef& side : condition->args) {
      if (side->op == Op::kIndex) determined_.insert(side->id);
    }
  }
}

bool Domain::allowed(int index, int64_t value) const {
  const auto found = kept_.find(index);
  return found == kept_.end() || found->second[static_cast<size_t>(value)];
}

int64_t Domain::count_of(int index) const {
  if (determined_.count(index)) return 1;
  const auto found = kept_.find(index);
  return found == kept_.end() ? extent(index) : std::count(found->second.begin(), found->second.end(), true);
}

std::vector<const Domain::Condition*> Domain::conditions_within(const IndexSet& indices) const {
  std::vector<const Condition*> out;
  for (const Condition& each : conditions_) {
    if (std::includes(indices.begin(), indices.end(), each.indices.begin(), each.indices.end())) out.push_back(&each);
  }
  return out;
}

// Indices that conditions couple, directly or through others, belong together.
std::vector<IndexSet> Domain::components(const IndexSet& indices) const {
  std::vector<IndexSet> out;
  for (int index : indices) out.push_back({index});
  for (const Condition* each : conditions_within(indices)) {
    IndexSet merged;
    std::vector<IndexSet> rest;
    for (IndexSet& component : out) {
      const bool touches =
          std::any_of(component.begin(), component.end(), [&](int i) { return each->indices.count(i); });
      if (touches) {
        merged.insert(component.begin(), component.end());
      } else {
        rest.push_back(std::move(component));
      }
    }
    if (!merged.empty()) rest.push_back(std::move(merged));
    out = std::move(rest);
  }
  return out;
}

bool Domain::enumerate(const std::vector<int>& order, const std::vector<const Condition*>& conditions,
                       const std::function<void(const Point&)>& visit) const {
  double size = 1;
  for (int index : order) size *= static_cast<double>(extent(index));
  if (size > kEnumerationLimit) return false;
  Point point(extents_.size(), 0);
  if (size == 0) return true;
  for (;;) {
    const bool inside =
        std::all_of(order.begin(), order.end(), [&](int i) { return allowed(i, point[static_cast<size_t>(i)]); }) &&
        std::all_of(conditions.begin(), conditions.end(),
                    [&](const Condition* c) { return (value_of(*c->expression, point) != 0) != c->negated; });
    if (inside) visit(point);
    size_t digit = 0;
    while (digit < order.size() && ++point[static_cast<size_t>(order[digit])] == extent(order[digit])) {
      point[static_cast<size_t>(order[digit++])] = 0;
    }
    if (digit == order.size()) return true;
  }
}

double Domain::component_points(const IndexSet& component) const {
  const std::vector<const Condition*> conditions = conditions_within(component);
  double box = 1;
  for (int index : component) box *= static_cast<double>(count_of(index));
  if (conditions.empty()) return box;
  const auto larger = [&](int a, int b) { return extent(a) < extent(b); };
  const int last = *std::max_element(component.begin(), component.end(), larger);
  std::vector<IndexBound> linear;
  for (const Condition* each : conditions) {
    const std::optional<IndexBound> form = bound_on(each->expression, each->negated, last);
    if (form) linear.push_back(*form);
  }
  std::vector<int> others(component.begin(), component.end());
  double total = 0;
  bool done = false;
  if (linear.size() == conditions.size() && !kept_.count(last)) {
    others.erase(std::find(others.begin(), others.end(), last));
    done = enumerate(others, {}, [&](const Point& point) {
      IndexRange interval{0, extent(last) - 1};
      for (const IndexBound& each : linear) interval.meet(each, point);
      total += static_cast<double>(std::max<int64_t>(0, interval.high - interval.low + 1));
    });
  } else {
    done = enumerate(others, conditions, [&](const Point&) { total += 1; });
  }
  if (done) return total;
  exact_ = false;
  return box;
}

IndexSet Domain::tied(int index) const {
  IndexSet out;
  for (const Condition& each : conditions_) {
    if (each.indices.count(index)) out.insert(each.indices.begin(), each.indices.end());
  }
  out.erase(index);
  return out;
}

IndexSet Domain::solved_by(int index, const IndexSet& bound) const {
  IndexSet out;
  for (const Condition& each : conditions_) {
    if (each.negated || each.expression->op != Op::kEq || !each.indices.count(index)) continue;
    const auto form = as_affine(make(Op::kSub, {each.expression->args[0], each.expression->args[1]}));
    if (!form || form->coefficient(index) == 0) continue;
    const bool longest = std::all_of(form->terms.begin(), form->terms.end(), [&](const auto& term) {
      const bool before =
          extent(term.first) > extent(index) || (extent(term.first) == extent(index) && term.first < index);
      return !bound.count(term.first) || !before;
    });
    for (const auto& [other, coefficient] : form->terms) {
      if (longest && !bound.count(other)) out.insert(other);
    }
  }
  return out;
}

double Domain::points(const IndexSet& indices) const {
  double product = 1;
  for (const IndexSet& component : components(indices)) product *= component_points(component);
  return product;
}

}  // namespace solstice::ir
