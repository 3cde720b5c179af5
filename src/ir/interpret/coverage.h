// Coverage: the sides of a program's branches that were taken while it was interpreted, of every comparison, condition
// and `where` true and false, of every two-operand min and max the first and the second operand, of every padded read
// inside and outside.
#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

namespace solstice::ir {

using Sides = std::array<bool, 2>;

class Coverage {
 public:
  // `on_large`: integers decide, one of them large.
  void add(const std::string& branch, const Sides& sides, bool on_large = false) {
    Taken& known = branches_[branch];
    known.sides = {known.sides[0] || sides[0], known.sides[1] || sides[1]};
    known.on_large = known.on_large || on_large;
  }
  bool is_complete() const { return uncovered().empty(); }
  // Branches with a side that was never taken.
  std::vector<std::string> uncovered(bool on_large_alone = false) const {
    std::vector<std::string> out;
    for (const auto& [branch, taken] : branches_) {
      const bool whole = taken.sides[0] && taken.sides[1];
      if (!whole && (taken.on_large || !on_large_alone)) out.push_back(branch);
    }
    return out;
  }

 private:
  struct Taken {
    Sides sides{};
    bool on_large = false;
  };
  std::map<std::string, Taken> branches_;
};

}  // namespace solstice::ir
