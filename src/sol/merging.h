// Fewer launches than one a kernel of fuse(): kernels of which neither needs the other run as ranges of blocks of one
// launch, and what is cheap is computed where it is read. Which of them a family can run today does not matter: too
// many merges make the practical bound low, too few put it above what a planner finds.
#pragma once

#include <vector>

#include "sol/fusion.h"

namespace solstice::sol {

struct IssueRate {
  double a_launch = 0;  // operations that all SMs issue while a launch takes: recomputing that costs less than a kernel
  double an_element = 0;  // ... while an f32 is read from DRAM: a product with no more is bound by what it reads
};

// The result is in an order in which it can run.
std::vector<FusedKernel> merge_launches(const ir::Program& program, const ir::Count& count,
                                        std::vector<FusedKernel> kernels, const IssueRate& issue);

}  // namespace solstice::sol
