// Plans: from equations to a formulation that the expert varies: the partition of the cost models and the schedules of
// its kernels.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ir/rewrite/driver.h"
#include "propose/formulation/formulation.h"

namespace solstice::propose {

struct Plan {
  Formulation formulation;
  Seconds cost;              // predicted, of the partition
  bool apart = false;        // its equations are the problem's with their statistics taken apart
  std::string text() const;  // "2 kernels: gemm1, map1"
};

// The same problem with each long statistic an equation of its own; null where there is none to take apart. Adds what
// was done to `steps`.
std::shared_ptr<const ir::BoundText> statistics_apart(const ir::BoundText& problem,
                                                      std::vector<RewriteStep>* steps = nullptr,
                                                      const StopTest& stop = {});

// Of the problem's own equations and those with their statistics apart, the one that the cost models find faster.
// `from` leads to `equations`; left out, they are the problem. Error unsupported_operator where no family can run an
// equation.
Result<Plan> plan(std::shared_ptr<const ir::BoundText> equations, const PlanningContext& context, Derivation from = {});

// Of these equations and no others; `from` leads to them.
Result<Plan> plan_exactly(std::shared_ptr<const ir::BoundText> equations, const PlanningContext& context,
                          Derivation from = {});

}  // namespace solstice::propose
