// Proofs about integer expressions: indices with their extents, linear facts from `where` and `select`, floor
// division and remainder by constants, gathers whose values have a known range.
//
// An expression becomes a linear form over variables; `a // c` is a variable q with 0 <= a - c*q <= c-1, `a %
// c` is a - c*q. A claim is proved by intervals, then by eliminating variables from the facts and the negated
// claim (Fourier-Motzkin with integer tightening), then by trying every point if there are few.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <vector>

#include "ir/integers/linear.h"
#include "ir/program.h"

namespace solstice::ir {

struct Fact {
  ExprRef condition;
  bool holds = true;  // false: its negation is known
};

enum class Proof { kProved, kRefuted, kDataDependent, kUnknown };

class Integers {
 public:
  // `values` tells the range of a tensor's integers, where the program fixes it.
  using Values = std::function<std::optional<ValueRange>(int tensor)>;
  Integers(const std::vector<Index>& indices, Values values);

  void assume(const Fact& fact);
  Linear linear(const ExprRef& expression);
  ValueRange interval(const Linear& form) const;
  ValueRange range(const ExprRef& expression);              // as narrow as the expression's own shape and its form tell
  Proof prove_at_least(const Linear& form, int64_t bound);  // form >= bound
  Proof prove_at_most(const Linear& form, int64_t bound);
  bool depends_on_data(const Linear& form) const;
  bool follows(const Linear& form, int64_t bound) const;

 private:
  struct Variable {
    ValueRange range;
    bool data = false;               // its value is known only at run time
    int index = -1;                  // an index of the equation, or
    ExprRef atom;                    // any other integer expression, or
    std::optional<Linear> dividend;  // dividend // divisor
    int64_t divisor = 0;
  };

  int variable_of(const ExprRef& atom, ValueRange range, bool data);
  int index_variable(int id);
  int quotient(const Linear& dividend, int64_t divisor);
  Linear division(const ExprRef& e);
  Linear extremum(const ExprRef& e);
  Linear atom(const ExprRef& e);
  ValueRange atom_range(const ExprRef& e);
  ValueRange reduction_range(const ExprRef& e);
  // How many values the indices take together.
  template <class Ids>
  ValueRange points_of(const Ids& ids) const {
    ValueRange points{1, 1};
    for (const int id : ids) {
      const int64_t extent = std::max<int64_t>(0, indices_[static_cast<size_t>(id)].extent);
      points = points * ValueRange{extent, extent};
    }
    return points;
  }
  void assume_comparison(Op op, const Linear& a, const Linear& b);
  std::vector<bool> reached_from(const Linear& goal, const std::vector<Linear>& more) const;
  std::vector<Linear> case_splits(const Linear& goal) const;
  std::vector<Linear> relevant(const Linear& goal, const std::vector<Linear>& more) const;
  Proof search(const Linear& form, int64_t bound) const;
  void collect_indices(const Linear& form, std::set<int>& out) const;
  std::vector<Fact> alternatives(std::set<int>& indices) const;
  bool evaluate(const Linear& form, const std::vector<int64_t>& values, int64_t& out) const;

  const std::vector<Index>& indices_;
  Values values_;
  std::vector<Variable> variables_;
  std::vector<Linear> facts_;    // each >= 0
  std::vector<Linear> unequal_;  // each != 0
  std::vector<Fact> either_;     // disjunctions: known to the search alone
};

}  // namespace solstice::ir
