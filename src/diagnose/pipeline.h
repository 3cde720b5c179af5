// The ring of stages between loads and tensor cores, of a kernel of tiles.
#pragma once

#include <optional>

#include "diagnose/tool.h"

namespace solstice::diagnose {

// The step that computes the kernel's equations; null: several do, or none is launched.
const StepFacts* main_step(const KernelView& view);

struct Pipeline {
  const StepFacts* step = nullptr;
  int64_t stages = 0;
  int64_t blocks = 1;       // on an SM
  int64_t stage_bytes = 0;  // shared memory of one, at most
  int64_t needed = 0;       // stages that cover the latency
  int64_t fitting = 0;      // stages that fit a block's shared memory
  Seconds stage_time;       // that tensor cores take for one, at the machine's ceiling
  Seconds latency;          // of loads
};

// Nothing where the kernel has no such ring, or where machine or facts do not say what it is made of.
std::optional<Pipeline> pipeline_of(const KernelView& view);

}  // namespace solstice::diagnose
