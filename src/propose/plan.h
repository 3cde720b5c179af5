// From equations to a proposer: the partition of the cost models, and the expert that varies its schedules.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ir/rewrite/driver.h"
#include "propose/expert.h"

namespace solstice::propose {

struct Plan {
  std::shared_ptr<const ir::Program> scheduled;  // its kernels and what crosses them
  std::unique_ptr<Expert> expert;
  Seconds cost;              // predicted, of the partition
  std::string text() const;  // "2 kernels: gemm1, map1"
};

// Error unsupported_operator where no family can run an equation.
Result<Plan> plan(std::shared_ptr<const ir::BoundText> equations, const PlanningContext& context, const std::vector<Known>& known = {});

}  // namespace solstice::propose
