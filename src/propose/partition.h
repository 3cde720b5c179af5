// Cutting a problem into kernels. A partition says which equations run together and which family runs each group;
// `partition()` finds one by merging greedily: two dependent groups become one where some family can run the merged
// kernel and its cost model says that this is no slower than the two apart; so do two that mainly read the same tensor
// where one kernel is faster (the mean and the variance of data).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "families/family.h"
#include "ir/program.h"

namespace solstice::propose {

struct Group {
  std::vector<int> equations;                // ids in text order
  const families::Family* family = nullptr;  // null: no family can run it
  Seconds cost{0};
  std::string reason;  // why no family can, where that is so
};

struct Partition {
  std::vector<Group> groups;  // in an order in which they can run
};

struct PlanningContext {
  const machine::Machine& machine;
  std::string numerics = "reference";
  bool frozen = false;
  bool through_equations = true;  // a cut may take an equation's statistics apart (rewrite split_statistics)
};

// What was found of groups of one problem's equations under one context: asking all families takes a while.
using Assessed = std::map<std::vector<int>, Group>;

// Every group of the result has a family. Error `unsupported_operator` names the equations that no family can run.
Result<Partition> partition(const ir::Program& problem, const PlanningContext& context);

// The equations cut as given, each group with its cheapest family. Errors as above.
Result<Partition> cut_as(const ir::Program& problem, const std::vector<std::vector<int>>& groups,
                         const PlanningContext& context, Assessed* known = nullptr);

// A cut that differs from another in one step.
struct Recut {
  Partition partition;
  std::string step;  // "fuses gemm1 and map2", "splits rows3 before `y`, and 3 alike"
  Seconds cost{0};   // of all its groups
  double remembered =
      0;  // log2 of what the kernels that it changes gain by memory, beyond the cost models (propose/advice.h)
};

// Two groups made one, or one taken apart in two, and with it those that are alike, wherever families can run what
// comes out, the cheapest first. Nothing for programs of more than some dozen groups: asking takes long, and the
// planner has decided well enough.
std::vector<Recut> recuts(const ir::Program& problem, const Partition& from, const PlanningContext& context,
                          Assessed* known = nullptr);

// The problem with `partition` applied: kernels in order, tensors that cross kernels declared (storage.h), all others
// local. Tensor and equation ids stay.
ir::Program apply(const ir::Program& problem, const Partition& partition);

}  // namespace solstice::propose
