// The judge's own side of the GPU: its context, its kernels, the memory of candidates that it has opened, the clocks.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/file.h"
#include "numerics/policy.h"
#include "run/device_memory.h"
#include "run/gpu_clocks.h"
#include "run/judge_kernels.h"
#include "run/runner_process.h"

namespace solstice::run {

struct JudgeLimits {
  Seconds prepare{30};
  Seconds run{10};
  Seconds time{60};
};

struct JudgeOptions {
  RunnerOptions runner;
  CompileFunction compile;
  numerics::Policy policy = numerics::Policy::kReference;
  JudgeLimits limits = {};
  int64_t red_zone = 4096;
  int slots = 2;  // copies of inputs and outputs to time with, as far as memory allows; more than contents are not used
  double memory_share = 0.6;  // of the free device memory, for those copies
  int spares = 1;             // processes that are started at once when none is left
  int first_spares = 1;       // and at the beginning, where there may be time
};

class JudgeDevice {
 public:
  JudgeDevice(const rt::Driver& driver, rt::DeviceContext context, JudgeOptions options);
  ~JudgeDevice();  // in any thread

  Status start();  // compiles the kernels and opens the clocks

  IpcImports& imports() { return imports_; }
  JudgeKernels& kernels() { return *kernels_; }
  Result<std::string> scrub();  // path of a cubin for RunnerLoad::scrub; compiled when it is first asked for
  const rt::Driver& driver() const { return driver_; }
  const rt::DeviceContext& context() const { return context_; }
  int64_t flush_bytes() const { return flush_bytes_; }
  JudgeOptions& options() { return options_; }
  const JudgeOptions& options() const { return options_; }

  bool sound() const;  // the context works
  Result<Bytes> free_memory() const;
  Result<Bytes> total_memory() const;
  ClockReading clocks() const;           // all unknown without NVML
  std::optional<double> joules() const;  // GpuClocks::joules(); nothing without NVML

 private:
  const rt::Driver& driver_;
  rt::DeviceContext context_;
  JudgeOptions options_;
  IpcImports imports_;
  std::unique_ptr<JudgeKernels> kernels_;
  std::optional<TempFolder> scrub_;
  std::optional<GpuClocks> clocks_;
  int64_t flush_bytes_ = 0;
};

}  // namespace solstice::run
