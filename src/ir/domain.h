// Sets of index points: the box of an equation's indices under affine conditions, and what a read touches over them.
//
// Counts are exact where the indices that a condition couples can be enumerated but for one, which is counted in closed
// form (triangles, prefixes, windows, strides, divisibility). Beyond 5e6 points points() gives the box, an upper limit,
// and image() the image of a part, a lower limit; exact() tells.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "ir/condition.h"

namespace solstice::ir {

using IndexSet = std::set<int>;
using Marks = std::vector<bool>;  // of the coordinates of one dim; empty: all of them

// Free and bound indices below `e` that are not bound inside it; those in the indices of reads included.
IndexSet indices_of(const ExprRef& e);

IndexSet united(const IndexSet& a, const IndexSet& b);
IndexSet without(const IndexSet& a, const IndexSet& b);

class Domain {
 public:
  struct Condition {
    ExprRef expression;  // over indices alone
    bool negated = false;
    IndexSet indices;
  };

  explicit Domain(const Equation& equation);

  const std::vector<Condition>& conditions() const { return conditions_; }

  // Only these values of an index.
  void keep(int index, const Marks& values);
  // Adds a condition (its conjuncts); negated: its negation, where that is one comparison. Conditions on tensor values
  // are dropped, but for an equality that determines an index (a scatter), which then counts one value.
  Domain with(const ExprRef& condition, bool negated = false) const;

  // The other indices of the conditions that have this one.
  IndexSet tied(int index) const;
  // The indices outside `bound` that give one of them its value, where an equality is solved for it: for the longest of
  // those of `bound` that it has, as the normal form does (u == 2*i+r-1 under a sum over i and r: i is given by u, and
  // by r).
  IndexSet solved_by(int index, const IndexSet& bound) const;
  double points(const IndexSet& indices) const;
  // Distinct elements within `shape` that a read's indices reach. A dim indexed by tensor values counts one.
  double image(const std::vector<ExprRef>& indices, const std::vector<int64_t>& shape) const;
  // Coordinates of each dim that are reached; dims indexed by tensor values are marked whole.
  std::vector<Marks> reach(const std::vector<ExprRef>& indices, const std::vector<int64_t>& shape) const;

  int64_t extent(int index) const { return extents_[static_cast<size_t>(index)]; }
  bool exact() const { return exact_; }

 private:
  using Point = std::vector<int64_t>;
  static constexpr double kEnumerationLimit = 5e6;

  // Dims of a read that share indices, directly or through conditions.
  struct Group {
    IndexSet indices;
    std::vector<size_t> dims;
  };

  void add(const ExprRef& condition, bool negated);
  bool allowed(int index, int64_t value) const;
  int64_t count_of(int index) const;
  std::vector<IndexSet> components(const IndexSet& indices) const;
  std::vector<const Condition*> conditions_within(const IndexSet& indices) const;
  double component_points(const IndexSet& component) const;
  // The image of one dim in closed form, where its indices are free of conditions and the coordinates have no gaps.
  std::optional<double> dense_image(const ExprRef& index, int64_t extent) const;
  bool is_free(const IndexSet& indices) const;
  std::optional<std::vector<IndexBound>> about(int last, const std::vector<const Condition*>& conditions) const;
  double group_image(const Group& group, const std::vector<ExprRef>& indices, const std::vector<int64_t>& shape) const;
  // Visits the points of these indices that satisfy the conditions; false, and no visit, where they are too many.
  bool enumerate(const std::vector<int>& order, const std::vector<const Condition*>& conditions,
                 const std::function<void(const Point&)>& visit) const;

  std::vector<int64_t> extents_;
  std::map<int, Marks> kept_;
  std::set<int> determined_;
  std::vector<Condition> conditions_;
  mutable bool exact_ = true;
};

}  // namespace solstice::ir
