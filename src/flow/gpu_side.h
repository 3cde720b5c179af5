// Everything of a run that needs the GPU but no module: driver, machine description, compiler, judge, warm runners.
// It starts in a thread of its own while Python starts.
#pragma once

#include <future>
#include <memory>
#include <string>

#include "machine/machine.h"
#include "run/judge.h"
#include "toolchain/compiler.h"

namespace solstice::flow {

struct GpuSide {
  std::unique_ptr<toolchain::Compiler> compiler;
  std::unique_ptr<run::Judge> judge;
  std::string driver;   // version, "" without NVML
  std::string note;     // on other processes' memory
};

struct GpuSideRequest {
  std::string machine;              // "": the description of the device that the driver names
  std::string numerics = "reference";
  int ordinal = 0;
  bool alone = true;                // refuse a GPU that others keep busy
};

// The description whose device has this name; not_found lists what there is.
Result<machine::Machine> machine_of_device(const std::string& device);

// Errors: no_driver, no_gpu, gpu_busy, no_compiler, not_found (no description fits).
Result<GpuSide> start_gpu_side(const GpuSideRequest& request);

}  // namespace solstice::flow
