// A team's kernel from its parts: the launch, the blocks' places, the loop over rows, the memory of the offers.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "families/rows/draft.h"
#include "families/rows/team.h"

namespace solstice::families::rows {

struct TeamText {
  std::string copying;  // of the copying warp
  std::string row;      // of a group, for one row
  size_t offers = 0;    // of a row
  int64_t aside = 0;    // bytes of shared memory beside the ring
};

// A barrier of the threads of a group.
std::string group_barrier(const Team& team);

// Error: what one_launch refuses.
Result<Emission> team_kernel(Draft& draft, const ir::Kernel& kernel, const Team& team, const TeamText& text);

}  // namespace solstice::families::rows
