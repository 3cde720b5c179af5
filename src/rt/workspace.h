// Places of the workspace buffers in the one allocation that the caller owns.
#pragma once

#include <cstdint>
#include <vector>

#include "record/plan.h"

namespace solstice::rt {

constexpr int64_t kWorkspaceAlignment = 256;  // of the allocation itself, and at least of every buffer

struct WorkspaceLayout {
  std::vector<int64_t> offsets;  // of plan.buffers; -1 where a buffer is not in the workspace
  int64_t bytes = 0;
};

// `gap` bytes are left free before, between and after the buffers (red zones).
WorkspaceLayout lay_out_workspace(const Plan& plan, int64_t gap = 0);

}  // namespace solstice::rt
