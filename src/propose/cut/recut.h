// Partitions that differ from a given one in one step: two groups fused, or one split.
#pragma once

#include <string>
#include <vector>

#include "ir/program.h"
#include "propose/cut/group.h"

namespace solstice::propose {

struct Recut {
  Partition partition;
  std::string step;  // "fuses gemm1 and map2", "splits rows3 before `y`, and 3 alike"
  Seconds cost{0};   // of all its groups
  // log2 of the gain of the changed kernels by memory, beyond the cost models (propose/moves/advice.h)
  double remembered = 0;
};

// Two groups made one, or one taken apart in two, and with it those that are alike, wherever families can run what
// comes out, the cheapest first. Nothing for programs of more than some dozen groups: asking takes long, and the
// planner has decided well enough.
std::vector<Recut> recuts(const ir::Program& problem, const Partition& from, const PlanningContext& context,
                          Assessed* known = nullptr);

}  // namespace solstice::propose
