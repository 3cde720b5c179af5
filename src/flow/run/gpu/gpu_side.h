// Everything of a run that needs the GPU but no module: driver, machine description, compiler, judge, warm runners.
// It starts in a thread of its own while Python starts, and each further GPU's judge in another.
#pragma once

#include <future>
#include <memory>
#include <string>
#include <vector>

#include "flow/run/gpu/gpu_choice.h"
#include "machine/machine.h"
#include "run/judge.h"
#include "toolchain/compiler.h"

namespace solstice::flow {

// Beside the first, where the module is.
struct FurtherGpu {
  int ordinal = 0;
  std::shared_ptr<run::Judge> judge = {};  // null: it could not be started, or broke
  std::string why = {};                    // the former, in this run
};

struct GpuSide {
  std::unique_ptr<toolchain::Compiler> compiler;
  std::unique_ptr<run::Judge> judge;
  std::string driver;              // version, "" without NVML
  std::vector<std::string> notes;  // on other processes
  std::vector<FurtherGpu> further;
};

struct GpuSideRequest {
  std::string machine;  // "": the description of the device that the driver names
  std::string numerics = "reference";
  int ordinal = 0;  // of the first
  GpuChoice gpus = {};
  bool alone = true;   // refuse a GPU that others keep busy
  int64_t caller = 0;  // process whose own use does not count as another's; 0: none
};

// The driver is here, and sees a GPU.
bool sees_gpu();

// Errors: no_driver, no_gpu, gpu_busy, no_compiler, not_found (no description fits). A further
// GPU whose judge does not start is told in FurtherGpu::why.
Result<GpuSide> start_gpu_side(const GpuSideRequest& request);

// Starts the judges of those that have none that works and were not tried in this run (`why` is empty). Nobody uses
// them meanwhile.
void start_further(std::vector<FurtherGpu>& gpus, const GpuSideRequest& request, toolchain::Compiler& compiler);

}  // namespace solstice::flow
