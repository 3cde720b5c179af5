// Elements that reads touch over a domain.
#include <algorithm>

#include "ir/domain.h"

namespace solstice::ir {
namespace {

constexpr double kCellLimit = 8e9;  // bits of one map of seen elements

}  // namespace

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
    if (std::any_of(each.indices.begin(), each.indices.end(), touches))
      all.insert(each.indices.begin(), each.indices.end());
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
    const std::optional<IndexBound> form = bound_on(each->expression, each->negated, last);
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
  if (own == group.indices && own.size() == group.dims.size() &&
      std::all_of(group.dims.begin(), group.dims.end(), alone)) {
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
  enumerate(order, conditions, [&](const Point& point) {
    if (witness) {
      IndexRange interval{0, extent(other) - 1};
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
    const bool done = enumerate({own.begin(), own.end()}, conditions_within(own), [&](const Point& at) {
      const int64_t coordinate = value_of(*indices[d], at);
      if (coordinate >= 0 && coordinate < shape[d]) marks[static_cast<size_t>(coordinate)] = true;
    });
    out.push_back(done ? std::move(marks) : Marks());
  }
  return out;
}

}  // namespace solstice::ir
