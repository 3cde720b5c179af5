// The GPU device: candidates are compiled while others are measured, in the order in which they were started.
#pragma once

#include <map>

#include "evaluate/gpu_meter.h"
#include "search/search.h"

namespace solstice::evaluate {

class GpuDevice : public search::InOrder {
 public:
  // `builds` and what the meter works with outlive it.
  GpuDevice(const TrialBuilds& builds, GpuMeter meter) : builds_(builds), meter_(std::move(meter)) {}

 protected:
  void begin(const search::Node& node) override { begun_.emplace(node.id, builds_.begin(node)); }
  Result<search::Measurement> finish(int node) override;

 private:
  const TrialBuilds& builds_;
  GpuMeter meter_;
  std::map<int, BegunTrial> begun_;
};

}  // namespace solstice::evaluate
