// Checks of `solstice doctor`, one per part of the machine. A check never fails; it reports what it found and, for a
// missing part, the cost and the remedy.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"

namespace solstice::cli {

enum class Health { kGood, kLimited, kMissing };

struct Finding {
  std::string part;  // "NVRTC", "sandbox"
  Health health = Health::kGood;
  std::string found;
  std::string costs;  // capabilities that are lost without it
  std::string remedy;
};

std::vector<Finding> check_data();       // kernels, machine files, the run store, disk space
std::vector<Finding> check_compilers();  // NVRTC or nvcc, CUDA headers
std::vector<Finding> check_gpu();        // driver, GPU, its memory, a machine file that fits, counters, NVML
std::vector<Finding> check_python();     // Python and PyTorch
std::vector<Finding> check_sandbox();

Json to_json(const Finding& finding);

}  // namespace solstice::cli
