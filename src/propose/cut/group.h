// Groups of equations that run as one kernel, and the partition of a problem into them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/stop.h"
#include "families/family.h"

namespace solstice::propose {

struct Group {
  std::vector<int> equations;                // ids in text order
  const families::Family* family = nullptr;  // null: no family can run it
  Seconds cost{0};
  std::vector<std::string> reasons;  // "gemm: ..": why it cannot, of each family
};

struct Partition {
  std::vector<Group> groups;  // in an order in which they can run
};

struct PlanningContext {
  const machine::Machine& machine;
  std::string numerics = "reference";
  bool frozen = false;
  bool through_equations = true;  // a cut may take an equation's statistics apart (rewrite split_statistics)
  // Asked between questions to the families, each of which takes as long as its group; once it says so, a cut is left
  // as it is by then, which is one that runs, kernels have the settings that their families choose, and nothing is
  // rewritten.
  StopTest stop = {};
  bool keep_nonfinite = false;  // equations are reworded by rewrites alone that keep NaN and infinities
};

// Answers of the families about groups of one problem's equations under one context, which take a while.
using Assessed = std::map<std::vector<int>, Group>;

}  // namespace solstice::propose
