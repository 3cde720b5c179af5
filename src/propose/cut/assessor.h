// The cheapest family for a group of equations. One program serves for all questions, so that none copies it; of the
// equations outside a group it shows families no more than what they may ask about them: who writes what, and which of
// the group's tensors others read.
#pragma once

#include <vector>

#include "propose/cut/dataflow.h"
#include "propose/cut/group.h"

namespace solstice::propose {

class Assessor {
 public:
  // Groups in `known` are not asked about again; new answers go there.
  Assessor(const ir::Program& problem, const Dataflow& flow, Assessed* known);

  Group assess(std::vector<int> equations, const PlanningContext& context);

 private:
  Group ask(std::vector<int> equations, const PlanningContext& context);
  void show(const std::vector<int>& equations);
  void show(int equation);
  void restore(const std::vector<int>& equations);

  ir::Program program_;
  const Dataflow& flow_;
  Assessed* known_;
  std::vector<ir::Tensor> declared_;
  std::vector<ir::ExprRef> sides_;  // the right sides of all equations; of most, `program_` has a number instead
  std::vector<int> shown_;          // the equations that have theirs
  const ir::ExprRef hidden_ = ir::make_int(0);
};

}  // namespace solstice::propose
