#include "diagnose/pipeline.h"

#include <algorithm>
#include <cmath>

namespace solstice::diagnose {

const StepFacts* main_step(const KernelView& view) {
  for (const StepFacts* step : view.steps()) {
    if (step->step == view.kernel.kernel && !step->entry.empty()) return step;
  }
  return nullptr;
}

std::optional<Pipeline> pipeline_of(const KernelView& view) {
  const TileShape tile = tile_of(view.kernel);
  Pipeline out;
  out.step = main_step(view);
  out.stages = number_knob(view.kernel, "stages");
  const std::optional<Seconds> latency = memory_latency(view.machine);
  const auto time =
      view.tensor_time(static_cast<double>(tile.m), static_cast<double>(tile.n), static_cast<double>(tile.k));
  if (!out.step || !out.step->shared_bytes || out.stages < 1 || tile.k < 1 || !latency || !time) return std::nullopt;
  out.stage_time = *time;
  out.latency = *latency;
  out.blocks = out.step->occupancy ? std::max<int64_t>(1, out.step->occupancy->blocks_per_sm) : 1;
  out.stage_bytes = *out.step->shared_bytes / out.stages;
  out.needed = 1 + static_cast<int64_t>(std::ceil(out.latency / out.stage_time / static_cast<double>(out.blocks)));
  const auto room = static_cast<int64_t>(view.machine.shared_per_block.value);
  out.fitting = out.stage_bytes > 0 ? room / out.stage_bytes : 0;
  return out;
}

}  // namespace solstice::diagnose
