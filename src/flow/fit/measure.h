// Measures what the cost models predict: the programs of a table of cases, each compiled and timed on the GPU at hand.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "record/kernel_time.h"
#include "record/progress.h"

namespace solstice::flow {

struct FitOptions {
  std::filesystem::path table;    // empty: bench/families/cases.txt of data_root()
  std::vector<std::string> only;  // parts of problems' names; empty: all
  int proposals = 5;              // schedules of a kernel
  std::string device = "auto";    // model: programs are made and compiled, and nothing is measured
  std::string machine;            // "": found from the device, h200 for the model device
  bool allow_busy = false;
  std::filesystem::path out;  // a line for each program is added here as soon as it is measured
};

struct FitDone {
  int measured = 0, compiled = 0;
  std::vector<std::string> refused;  // programs that did not compile or failed on the GPU, and why
};

// Errors: no_gpu, gpu_busy, not_found, bad_argument, no_compiler; cuda_error where the GPU is lost after a program
// failed there; deadline where one does not end.
Result<FitDone> measure_fit(const FitOptions& options, Progress& progress);

}  // namespace solstice::flow
