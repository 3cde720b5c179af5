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
  std::string driver;  // version, "" without NVML
  std::string note;    // on other processes
};

struct GpuSideRequest {
  std::string machine;  // "": the description of the device that the driver names
  std::string numerics = "reference";
  int ordinal = 0;
  bool alone = true;   // refuse a GPU that others keep busy
  int64_t caller = 0;  // process whose own use does not count as another's; 0: none
};

// Errors: no_driver, no_gpu, gpu_busy, no_compiler, not_found (no description fits).
Result<GpuSide> start_gpu_side(const GpuSideRequest& request);

}  // namespace solstice::flow
