// The GPU device: candidates are compiled and diagnosed while others are measured, in the order in which they were
// started.
#pragma once

#include <map>

#include "evaluate/gpu_meter.h"
#include "search/overlapped.h"

namespace solstice::evaluate {

class GpuDevice : public search::Overlapped {
 public:
  // `builds` and what the meter works with outlive it. `over`: Overlapped's.
  GpuDevice(const TrialBuilds& builds, GpuMeter meter, StopTest over = {})
      : search::Overlapped(std::move(over)), builds_(builds), meter_(std::move(meter)) {}

 protected:
  void begin(const search::Node& node) override { begun_.emplace(node.id, builds_.begin(node)); }
  bool ready(int node) override { return begun_.at(node).candidate.ready(Seconds(0)); }
  Result<search::Measurement> measure(int node) override { return meter_.measure(begun_.at(node)); }
  bool concluded(int node, Seconds patience) override { return begun_.at(node).diagnosis.done(patience); }
  void conclude(int node, Seconds waited, search::Measurement& out) override;

 private:
  const TrialBuilds& builds_;
  GpuMeter meter_;
  std::map<int, BegunTrial> begun_;
};

}  // namespace solstice::evaluate
