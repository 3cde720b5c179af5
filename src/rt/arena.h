// The runner's one allocation: every buffer of a plan with free space around it. Judge and runner compute the same
// layout from the plan, so that no address has to be believed.
//
// Inputs, outputs and states have a place per slot (fresh content and addresses for every repetition), each slot
// nudged by another KiB; parameters have one place; the workspace's buffers follow, each with its own red zone.
#pragma once

#include <cstdint>
#include <vector>

#include "record/plan.h"
#include "rt/workspace.h"

namespace solstice::rt {

// CUDA maps whole pages, into other processes too: what lies behind an allocation can be reached.
inline constexpr int64_t kMappedPage = int64_t{2} << 20;

struct ArenaRange {
  int64_t offset = 0;
  int64_t bytes = 0;
  bool operator==(const ArenaRange&) const = default;
};

struct ArenaLayout {
  int64_t bytes = 0;
  std::vector<std::vector<ArenaRange>> slots;  // [slot][interface buffer in plan order]
  ArenaRange workspace;                        // as the executor sees it
  std::vector<ArenaRange> workspace_buffers;   // inside it, in plan order
  std::vector<ArenaRange> gaps;                // all that belongs to no buffer: the red zones
};

ArenaLayout lay_out_arena(const Plan& plan, int slots, int64_t red_zone);

}  // namespace solstice::rt
