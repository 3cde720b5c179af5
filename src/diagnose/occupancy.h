// Resident blocks of a launch on an SM, from its resources (CUDA C++ programming guide, occupancy).
#pragma once

#include <cstdint>
#include <optional>

#include "machine/machine.h"
#include "record/diagnosis/facts.h"

namespace solstice::diagnose {

struct BlockNeeds {
  int64_t threads = 1;
  int64_t registers = 0;     // a thread
  int64_t shared_bytes = 0;  // static and dynamic
  int64_t cluster = 1;       // blocks
  int64_t blocks = 1;        // of the grid
};

// nullopt: such a block fits on no SM.
std::optional<OccupancyFacts> occupancy_of(const machine::Machine& machine, const BlockNeeds& needs);
// That of a step whose registers are known.
std::optional<BlockNeeds> needs_of(const StepFacts& step);

}  // namespace solstice::diagnose
