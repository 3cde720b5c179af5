// Several GPUs of one host under one search: each has its own judge and runners, its own copies of the cases, and a
// thread.
#pragma once

#include <memory>
#include <vector>

#include "evaluate/fleet.h"
#include "evaluate/gpu_meter.h"
#include "run/case_copies.h"

namespace solstice::evaluate {

struct FleetGpu {
  int ordinal = 0;
  std::shared_ptr<run::Judge> judge;
};

struct GpuFleetOptions {
  GpuMeterOptions meter;         // `gpu` is each one's own
  Bytes beside;                  // memory that has to stay free for a candidate on GPUs that get copies of the cases
  const void* client = nullptr;  // Judge::serve(): whose trials these are
};

// `cases` lie on the first GPU; the others get copies when the fleet is opened, and hold them until it ends. A GPU
// without room for them is left out (too_large). `builds` and `cases` outlive the fleet.
std::unique_ptr<Fleet> make_gpu_fleet(const TrialBuilds& builds, const std::vector<FleetGpu>& gpus,
                                      const std::vector<run::JudgeCase>& cases, const GpuFleetOptions& options,
                                      Fleet::Tell left_out);

}  // namespace solstice::evaluate
