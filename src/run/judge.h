// Judge: the trusted side of a trial. It owns what goes in and what is expected; candidates run in a RunnerProcess on
// copies, and the judge looks at their memory from outside.
//
//   SOLSTICE_TRY(auto judge, Judge::start({.runner = {.program = path}, .compile = nvrtc}));
//   SOLSTICE_TRY(Verdict verdict, judge->verify("plan.json", cases));
//   if (verdict.passed()) SOLSTICE_TRY(TimedBlock block, judge->time_block(cases, 10));
//
// A candidate that crashes, hangs or computes wrongly is a Verdict, and the next one gets a fresh process (one is kept
// warm). An Error means that judging itself failed: no driver, no runner, no memory for the judge, a case that does
// not fit the plan.
//
// verify() runs every case twice, the second time in reverse order with the workspace filled differently, so that
// stale memory cannot stand in for work. Each run: inputs copied in, outputs and workspace poisoned, one launch, then
// red zones, inputs, and results are checked. docs/measuring.md has the whole procedure. Not thread-safe.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "numerics/policy.h"
#include "record/plan.h"
#include "record/verdict.h"
#include "run/device_memory.h"
#include "run/gpu_clocks.h"
#include "run/judge_kernels.h"
#include "run/runner_process.h"

namespace solstice::run {

struct ExpectedOutput {
  DeviceTensor oracle;                    // float64 for floats
  std::optional<DeviceTensor> eager;      // PyTorch's own result
  numerics::Sum sum;                      // the reduction behind it, for the modelled error
  numerics::OwnMath own = numerics::OwnMath::kStrict;
};

// One set of values. Keys are names of plan buffers. `given` covers every input, parameter and state, with the plan's
// strides; `expected` every output and every written state or input.
struct JudgeCase {
  std::string name;                       // "seed 1, normal"
  std::map<std::string, DeviceTensor> given;
  std::map<std::string, ExpectedOutput> expected;
};

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
  int slots = 4;                          // copies of inputs and outputs to time with, as far as memory allows
  double memory_share = 0.6;              // of the free device memory, for those copies
};

enum class Tracer { kEvents, kCupti };

struct TimedBlock {
  std::vector<double> seconds;            // of each repetition; empty where the verdict is not passed
  std::vector<std::string> activities;    // CUPTI: what one repetition ran
  Seconds launch;                         // host time of a launch call
  Verdict verdict;                        // of every timed output
};

class CandidateRun;

class Judge {
 public:
  static Result<std::unique_ptr<Judge>> start(JudgeOptions options);
  ~Judge();

  Result<Verdict> verify(const std::filesystem::path& plan, const std::vector<JudgeCase>& cases);

  // `repetitions` executions of the plan that was verified last, with a cold L2, each on other content at another
  // address as far as cases and slots allow; every timed output is checked. Error bad_argument without such a plan.
  Result<TimedBlock> time_block(const std::vector<JudgeCase>& cases, int repetitions, Tracer tracer = Tracer::kEvents);

  // Ends the current candidate's process and frees its memory.
  void release();

  Result<RunnerHello> runner();           // what a runner says about itself: GPU, CUPTI, sandbox
  ClockReading clocks() const;            // zeros without NVML
  IpcImports& imports() { return imports_; }
  JudgeKernels& kernels() { return *kernels_; }
  const rt::Driver& driver() const { return driver_; }
  const rt::DeviceContext& device() const { return context_; }
  int64_t flush_bytes() const { return flush_bytes_; }
  const JudgeOptions& options() const { return options_; }

 private:
  Judge(const rt::Driver& driver, rt::DeviceContext context, JudgeOptions options);
  Result<RunnerProcess> take_runner();
  Result<int> slots_for(const Plan& plan) const;

  const rt::Driver& driver_;
  rt::DeviceContext context_;
  JudgeOptions options_;
  IpcImports imports_;
  std::unique_ptr<JudgeKernels> kernels_;
  std::optional<GpuClocks> clocks_;
  int64_t flush_bytes_ = 0;
  std::optional<RunnerProcess> spare_;
  std::unique_ptr<CandidateRun> current_;
};

}  // namespace solstice::run
