// Cutting a problem into kernels. A partition says which equations run together and which family runs each group;
// `partition()` finds one by merging greedily: two dependent groups become one where some family can run the merged
// kernel and its cost model says that this is no slower than the two apart; so do two that mainly read the same tensor
// where one kernel is faster (the mean and the variance of data).
#pragma once

#include <vector>

#include "ir/program.h"
#include "propose/cut/group.h"

namespace solstice::propose {

// Every group of the result has a family. Error `unsupported_operator` names the equations that no family can run.
Result<Partition> partition(const ir::Program& problem, const PlanningContext& context);

// An equation that has no kernel of its own kind: no family runs it, or only `map`, element by element, does, though it
// sums products (a convolution).
struct Unserved {
  int equation = -1;
  std::string why;
};
// All of them; none where the program can be cut into kernels that are worth it. Errors: those of what is no problem.
Result<std::vector<Unserved>> unserved(const ir::Program& problem, const PlanningContext& context);

// The equations cut as given, each group with its cheapest family. Errors as above.
Result<Partition> cut_as(const ir::Program& problem, const std::vector<std::vector<int>>& groups,
                         const PlanningContext& context, Assessed* known = nullptr);

// The problem with `partition` applied: kernels in order, tensors that cross kernels declared (storage.h), all others
// local. Tensor and equation ids stay.
ir::Program apply(const ir::Program& problem, const Partition& partition);

}  // namespace solstice::propose
