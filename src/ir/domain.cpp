#include "ir/domain.h"

#include <algorithm>
#include <numeric>
#include <optional>

namespace solstice::ir {
namespace {

constexpr double kEnumerationLimit = 5e6;
constexpr double kCellLimit = 8e9;  // bits of one map of seen elements

bool has_read(const ExprRef& e) {
  bool found = false;
  walk(e, [&](const Expr& node) { found = found || node.op == Op::kRead; });
  return found;
}

void collect(const ExprRef& e, IndexSet& bound, IndexSet& out) {
  if (!e) return;
  if (e->op == Op::kIndex && !bound.count(e->id)) out.insert(e->id);
  IndexSet inner = bound;
  inner.insert(e->binders.begin(), e->binders.end());
  for (const ExprRef& arg : e->args) collect(arg, e->binders.empty() ? bound : inner, out);
}

int64_t floor_div(int64_t a, int64_t b) { return a / b - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0); }

// Value of an integer or boolean expression without reads.
int64_t value_of(const Expr& e, const std::vector<int64_t>& at) {
  const auto arg = [&](size_t i) { return value_of(*e.args[i], at); };
  switch (e.op) {
    case Op::kInt:
    case Op::kBool: return e.integer;
    case Op::kReal: return static_cast<int64_t>(e.real);
    case Op::kIndex: return at[static_cast<size_t>(e.id)];
    case Op::kNeg: return -arg(0);
    case Op::kNot: return !arg(0);
    case Op::kAnd: return arg(0) && arg(1);
    case Op::kOr: return arg(0) || arg(1);
    case Op::kAdd: return arg(0) + arg(1);
    case Op::kSub: return arg(0) - arg(1);
    case Op::kMul: return arg(0) * arg(1);
    case Op::kFloorDiv: return floor_div(arg(0), arg(1));
    case Op::kMod: return arg(0) - arg(1) * floor_div(arg(0), arg(1));
    case Op::kMin: return std::min(arg(0), arg(1));
    case Op::kMax: return std::max(arg(0), arg(1));
    case Op::kSelect: return arg(0) ? arg(1) : arg(2);
    case Op::kLt: return arg(0) < arg(1);
    case Op::kLe: return arg(0) <= arg(1);
    case Op::kEq: return arg(0) == arg(1);
    case Op::kNe: return arg(0) != arg(1);
    case Op::kGe: return arg(0) >= arg(1);
    case Op::kGt: return arg(0) > arg(1);
    default: return 0;
  }
}

std::optional<Op> comparison(const Expr& e, bool negated) {
  switch (e.op) {
    case Op::kLt: return negated ? Op::kGe : Op::kLt;
    case Op::kLe: return negated ? Op::kGt : Op::kLe;
    case Op::kGe: return negated ? Op::kLt : Op::kGe;
    case Op::kGt: return negated ? Op::kLe : Op::kGt;
    case Op::kEq: return negated ? std::nullopt : std::optional(Op::kEq);
    default: return std::nullopt;
  }
}

std::optional<IndexBound> linear_in(const ExprRef& condition, bool negated, int last) {
  const std::optional<Op> op = comparison(*condition, negated);
  if (!op) return std::nullopt;
  const bool flip = *op == Op::kLt || *op == Op::kLe;  // b - a >= 0
  const auto difference = as_affine(make(Op::kSub, {condition->args[flip ? 1 : 0], condition->args[flip ? 0 : 1]}));
  if (!difference) return std::nullopt;
  IndexBound out;
  out.last = difference->coefficient(last);
  out.equal = *op == Op::kEq;
  out.rest.offset = difference->offset - (*op == Op::kLt || *op == Op::kGt ? 1 : 0);
  for (const auto& term : difference->terms) {
    if (term.first != last) out.rest.terms.push_back(term);
  }
  return out;
}

int64_t value_at(const Affine& a, const std::vector<int64_t>& point) {
  int64_t sum = a.offset;
  for (const auto& [index, coefficient] : a.terms) sum += coefficient * point[static_cast<size_t>(index)];
  return sum;
}

// Values of the last index that satisfy all conditions, given the others: an interval, or one value.
struct Interval {
  int64_t low, high;
  void meet(const IndexBound& c, const std::vector<int64_t>& point) {
    const int64_t rest = value_at(c.rest, point);
    if (c.last == 0) {
      if (c.equal ? rest != 0 : rest < 0) high = low - 1;
    } else if (c.equal) {
      if (rest % c.last != 0) high = low - 1;
      low = std::max(low, -rest / c.last);
      high = std::min(high, -rest / c.last);
    } else if (c.last > 0) {
      low = std::max(low, -floor_div(rest, c.last));
    } else {
      high = std::min(high, floor_div(rest, -c.last));
    }
  }
};

}  // namespace

IndexSet indices_of(const ExprRef& e) {
  IndexSet bound, out;
  collect(e, bound, out);
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
      const bool touches = std::any_of(component.begin(), component.end(), [&](int i) { return each->indices.count(i); });
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

template <typename Visit>
bool Domain::enumerate(std::vector<int> order, const std::vector<const Condition*>& conditions, double limit,
                       Visit&& visit) const {
  double size = 1;
  for (int index : order) size *= static_cast<double>(extent(index));
  if (size > limit) return false;
  Point point(extents_.size(), 0);
  if (size == 0) return true;
  for (;;) {
    const bool inside = std::all_of(order.begin(), order.end(), [&](int i) {
      return allowed(i, point[static_cast<size_t>(i)]);
    }) && std::all_of(conditions.begin(), conditions.end(), [&](const Condition* c) {
      return (value_of(*c->expression, point) != 0) != c->negated;
    });
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
    const std::optional<IndexBound> form = linear_in(each->expression, each->negated, last);
    if (form) linear.push_back(*form);
  }
  std::vector<int> others(component.begin(), component.end());
  double total = 0;
  bool done = false;
  if (linear.size() == conditions.size() && !kept_.count(last)) {
    others.erase(std::find(others.begin(), others.end(), last));
    done = enumerate(others, {}, kEnumerationLimit, [&](const Point& point) {
      Interval interval{0, extent(last) - 1};
      for (const IndexBound& each : linear) interval.meet(each, point);
      total += static_cast<double>(std::max<int64_t>(0, interval.high - interval.low + 1));
    });
  } else {
    done = enumerate(others, conditions, kEnumerationLimit, [&](const Point&) { total += 1; });
  }
  if (done) return total;
  exact_ = false;
  return box;
}

double Domain::points(const IndexSet& indices) const {
  double product = 1;
  for (const IndexSet& component : components(indices)) product *= component_points(component);
  return product;
}

bool Domain::is_free(const IndexSet& indices) const {
  const auto touched = [&](int i) {
    return kept_.count(i) || std::any_of(conditions_.begin(), conditions_.end(),
                                         [&](const Condition& each) { return each.indices.count(i) != 0; });
  };
  return std::none_of(indices.begin(), indices.end(), touched);
}

std::optional<double> Domain::dense_image(const ExprRef& index, int64_t size) const {
  const std::optional<Affine> form = as_affine(index);
  if (!form || !is_free(indices_of(index))) return std::nullopt;
  std::vector<std::pair<int64_t, int64_t>> steps;  // |coefficient|, extent
  int64_t low = form->offset;
  for (const auto& [id, coefficient] : form->terms) {
    if (extent(id) <= 0) return 0;
    steps.emplace_back(std::abs(coefficient), extent(id));
    if (coefficient < 0) low += coefficient * (extent(id) - 1);
  }
  std::sort(steps.begin(), steps.end());
  const int64_t unit = steps.empty() ? 1 : steps[0].first;
  int64_t span = 0;  // in units, without gaps
  for (const auto& [step, count] : steps) {
    if (step % unit != 0 || step / unit > span + 1) return std::nullopt;
    span += step / unit * (count - 1);
  }
  const int64_t first = low >= 0 ? 0 : (-low + unit - 1) / unit;
  const int64_t last = low >= size ? -1 : std::min(span, (size - 1 - low) / unit);
  return static_cast<double>(std::max<int64_t>(0, last - first + 1));
}

double Domain::image(const std::vector<ExprRef>& indices, const std::vector<int64_t>& shape) const {
  IndexSet all;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (!has_read(indices[d])) all.merge(indices_of(indices[d]));
  }
  for (const Condition& each : conditions_) {
    const auto touches = [&](int i) { return all.count(i) != 0; };
    if (std::any_of(each.indices.begin(), each.indices.end(), touches)) all.insert(each.indices.begin(), each.indices.end());
  }
  std::vector<Group> groups;
  for (IndexSet& component : components(all)) groups.push_back({std::move(component), {}});
  double elements = 1;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (has_read(indices[d])) continue;
    const IndexSet own = indices_of(indices[d]);
    Group merged{{}, {d}};
    std::vector<Group> rest;
    for (Group& group : groups) {
      const bool touches = std::any_of(own.begin(), own.end(), [&](int i) { return group.indices.count(i); });
      if (!touches) {
        rest.push_back(std::move(group));
        continue;
      }
      merged.indices.insert(group.indices.begin(), group.indices.end());
      merged.dims.insert(merged.dims.end(), group.dims.begin(), group.dims.end());
    }
    rest.push_back(std::move(merged));
    groups = std::move(rest);
  }
  for (const Group& group : groups) {
    if (!group.dims.empty()) elements *= group_image(group, indices, shape);
  }
  return elements;
}

// Conditions on one index that no dim uses: whether any of its values satisfies them, given the others.
std::optional<std::vector<IndexBound>> Domain::about(int last, const std::vector<const Condition*>& conditions) const {
  std::vector<IndexBound> out;
  for (const Condition* each : conditions) {
    const std::optional<IndexBound> form = linear_in(each->expression, each->negated, last);
    if (!form) return std::nullopt;
    out.push_back(*form);
  }
  return kept_.count(last) ? std::nullopt : std::optional(out);
}

double Domain::group_image(const Group& group, const std::vector<ExprRef>& indices,
                           const std::vector<int64_t>& shape) const {
  if (group.dims.size() == 1) {
    const size_t d = group.dims[0];
    if (const std::optional<double> closed = dense_image(indices[d], shape[d])) return *closed;
  }
  IndexSet own;
  double cells = 1;
  for (size_t d : group.dims) {
    own.merge(indices_of(indices[d]));
    cells *= static_cast<double>(shape[d]);
  }
  if (cells > kCellLimit) {
    exact_ = false;
    return 0;
  }
  // Indices that stand alone in their dims: elements are points.
  const auto alone = [&](size_t d) { return indices[d]->op == Op::kIndex && extent(indices[d]->id) <= shape[d]; };
  if (own == group.indices && own.size() == group.dims.size() && std::all_of(group.dims.begin(), group.dims.end(), alone)) {
    return points(own);
  }
  std::vector<const Condition*> conditions = conditions_within(group.indices);
  std::vector<int> order(group.indices.begin(), group.indices.end());
  std::optional<std::vector<IndexBound>> witness;
  int other = -1;
  if (group.indices.size() == own.size() + 1) {
    other = *std::find_if(order.begin(), order.end(), [&](int i) { return !own.count(i); });
    witness = about(other, conditions);
  }
  if (witness) {
    order.assign(own.begin(), own.end());
    conditions.clear();
  }
  // With too many points only a part of the domain is visited, so that the count stays a lower limit.
  std::sort(order.begin(), order.end(), [&](int x, int y) { return extent(x) > extent(y); });
  double size = 1;
  size_t taken = 0;
  while (taken < order.size() && size * static_cast<double>(extent(order[taken])) <= kEnumerationLimit) {
    size *= static_cast<double>(extent(order[taken++]));
  }
  if (taken < order.size()) exact_ = false;
  order.resize(taken);
  Marks seen(static_cast<size_t>(cells), false);
  double count = 0;
  enumerate(order, conditions, kEnumerationLimit, [&](const Point& point) {
    if (witness) {
      Interval interval{0, extent(other) - 1};
      for (const IndexBound& each : *witness) interval.meet(each, point);
      if (interval.low > interval.high) return;
    }
    int64_t cell = 0;
    for (size_t d : group.dims) {
      const int64_t coordinate = value_of(*indices[d], point);
      if (coordinate < 0 || coordinate >= shape[d]) return;
      cell = cell * shape[d] + coordinate;
    }
    if (!seen[static_cast<size_t>(cell)]) count += 1;
    seen[static_cast<size_t>(cell)] = true;
  });
  return count;
}

std::vector<Marks> Domain::reach(const std::vector<ExprRef>& indices, const std::vector<int64_t>& shape) const {
  std::vector<Marks> out;
  for (size_t d = 0; d < shape.size(); ++d) {
    const IndexSet own = indices_of(indices[d]);
    const std::optional<double> closed = has_read(indices[d]) ? std::nullopt : dense_image(indices[d], shape[d]);
    if (has_read(indices[d]) || (closed && *closed == static_cast<double>(shape[d]))) {
      out.emplace_back();
      continue;
    }
    Marks marks(static_cast<size_t>(shape[d]), false);
    const bool done = enumerate({own.begin(), own.end()}, conditions_within(own), kEnumerationLimit, [&](const Point& at) {
      const int64_t coordinate = value_of(*indices[d], at);
      if (coordinate >= 0 && coordinate < shape[d]) marks[static_cast<size_t>(coordinate)] = true;
    });
    out.push_back(done ? std::move(marks) : Marks());
  }
  return out;
}

}  // namespace solstice::ir
