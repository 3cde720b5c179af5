// What `solstice doctor` looks at: one check a part of the machine. A check never fails; it says what it found, and
// where something is missing, what that costs and how to get it.
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
  std::string costs;  // what cannot be done without it
  std::string remedy;
};

std::vector<Finding> check_data();       // kernels, machine files, the run store, disk space
std::vector<Finding> check_compilers();  // NVRTC or nvcc, CUDA headers
std::vector<Finding> check_gpu();        // driver, GPU, its memory, a machine file that fits, counters, NVML
std::vector<Finding> check_python();     // Python and PyTorch
std::vector<Finding> check_sandbox();

Json to_json(const Finding& finding);

}  // namespace solstice::cli
