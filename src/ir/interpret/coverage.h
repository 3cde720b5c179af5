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
  void add(const std::string& branch, const Sides& sides) {
    Sides& known = branches_[branch];
    known = {known[0] || sides[0], known[1] || sides[1]};
  }
  bool is_complete() const { return uncovered().empty(); }
  // Branches with a side that was never taken.
  std::vector<std::string> uncovered() const {
    std::vector<std::string> out;
    for (const auto& [branch, sides] : branches_) {
      if (!sides[0] || !sides[1]) out.push_back(branch);
    }
    return out;
  }

 private:
  std::map<std::string, Sides> branches_;
};

}  // namespace solstice::ir
