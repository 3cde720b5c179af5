// Uses of tensors' values in a pair of programs: the values that decide something.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "ir/program.h"

namespace solstice::ir {

class Uses {
 public:
  struct Use {
    int64_t below = -1;  // of integers: the smallest dimension that they index, so that gathers stay in range; -1: none
    std::vector<double> special;  // literals that it is compared with (`t[m] != -100`)
    std::set<size_t> extremal;    // dimensions that an extremum runs along
  };

  // Comparisons of the other program, of the same interface, count too; its gathers do not.
  explicit Uses(const Program& program, const Program* other = nullptr);

  const Use& of(size_t tensor) const { return uses_[tensor]; }
  // The largest finite literal that a value is compared with, clamped to, or padded with.
  double largest_literal() const { return largest_; }
  // Positions that indices are compared with, and their neighbours.
  const std::vector<int64_t>& places() const { return places_; }
  // Integers that others are compared, clamped or computed with, and their roots and quotients.
  const std::vector<double>& numbers() const { return numbers_; }

 private:
  void add(const Program& program, bool other);
  void index(const Program& program, const Expr& read);
  void extremum(const Program& program, const Expr& e);
  void compare(const Program& program, const Expr& e);
  void literal(const ExprRef& e);
  void place(const Expr& e);
  void number(const Expr& e);

  const Program& program_;
  std::vector<Use> uses_;
  double largest_ = 0;
  std::set<int64_t> found_;
  std::vector<int64_t> places_;
  std::set<int64_t> integers_;
  std::vector<double> numbers_;
};

}  // namespace solstice::ir
