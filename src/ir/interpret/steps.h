// Dependences between elements of a recurrence's tensors.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "ir/program.h"

namespace solstice::ir {

// The indices of a recurrence besides its step fall into classes: equations that read each other at one index's own
// value share it. A class is separate if no equation reads another value of it; then each value can be run alone (the
// rows of a running sum; the batch of a recurrent network, but not its hidden units).
class StepClasses {
 public:
  StepClasses(const Program& program, const std::vector<int>& equations);

  // By free index of the equation: its class where that is separate, else -1. The step is -1.
  std::vector<int> separate(int equation) const;

 private:
  using Place = std::pair<int, size_t>;  // tensor, dim
  int class_of(const Place& place);
  int root(int c) const;
  void visit(const Equation& equation, const Expr& read);

  const Program& program_;
  std::set<int> targets_;
  std::map<Place, int> classes_;
  std::vector<int> parent_;
  std::set<int> coupled_;  // classes, by root only after all is seen
  std::set<Place> steps_;
};

}  // namespace solstice::ir
