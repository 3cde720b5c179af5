// The cheapest family for a group of equations. One program serves for all questions.
#pragma once

#include <vector>

#include "propose/cut/dataflow.h"
#include "propose/cut/group.h"
#include "propose/cut/spotlight.h"

namespace solstice::propose {

class Assessor {
 public:
  // Groups in `known` are not asked about again; new answers go there.
  Assessor(const ir::Program& problem, const Dataflow& flow, Assessed* known);

  Group assess(std::vector<int> equations, const PlanningContext& context);

 private:
  Group ask(std::vector<int> equations, const PlanningContext& context);
  void restore(const std::vector<int>& equations);

  Spotlight light_;
  const Dataflow& flow_;
  Assessed* known_;
  std::vector<ir::Tensor> declared_;
};

}  // namespace solstice::propose
