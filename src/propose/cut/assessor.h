// The cheapest family for a group of equations.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "propose/cut/dataflow.h"
#include "propose/cut/group.h"
#include "propose/cut/spotlight.h"

namespace solstice::propose {

class Assessor {
 public:
  // Groups in `known` are not asked about again; new answers go there.
  Assessor(const ir::Program& problem, const Dataflow& flow, Assessed* known);

  // The context is that of earlier questions.
  Group assess(std::vector<int> equations, const PlanningContext& context);

 private:
  struct Answer {
    const families::Family* family;
    Seconds cost;
  };

  Group ask(std::vector<int> equations, const PlanningContext& context);
  Group cheapest(const PlanningContext& context);
  void restore(const std::vector<int>& equations);

  ir::Program program_;  // as it would be if every tensor went to memory
  const Dataflow& flow_;
  Spotlight light_;
  Assessed* known_;
  std::unordered_map<std::string, Answer> alike_;  // by form (form.h): answers under the context of all questions
  std::vector<ir::Tensor> declared_;
};

}  // namespace solstice::propose
