// Use of a GPU by other processes, by NVML: others' work makes times worthless, others' memory may leave too little.
//
// Ask before any process of ours touches the GPU. NVML reports processes by their ids on the host, which inside a
// container match none of ours.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"

namespace solstice::run {

struct GpuUser {
  int64_t pid = 0;
  std::string name;  // "" where it cannot be read: another user's, or outside this container
  Bytes memory;
};

struct GpuUse {
  std::string gpu;
  std::string driver;              // "580.159.04"
  std::optional<int> utilization;  // percent of the last sampling period in which a kernel ran; none: NVML does not say
  std::string unknown;             // why not
  Bytes memory_used, memory_total;
  std::vector<GpuUser> users;
};

// `bus_id` as the CUDA driver gives it. The utilization is the lower of two readings a second apart, unless the first
// is idle already: a run that has just ended must not count. Error no_driver where NVML cannot be used.
Result<GpuUse> gpu_use(const std::string& bus_id);

// Error gpu_busy, naming the processes, where others keep the GPU busy. `own` (0: none) is a process whose work does
// not count: the caller's, which waits for us. It is excused where it is the only one that NVML shows.
Status refuse_busy(const GpuUse& use, int64_t own = 0);
// Remarks for a report: that the utilization is unknown, and which processes merely hold memory. "" where there is
// nothing to say.
std::string use_note(const GpuUse& use);

}  // namespace solstice::run
