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

#include "base/file.h"
#include "numerics/policy.h"
#include "record/plan.h"
#include "record/verdict.h"
#include "run/device_memory.h"
#include "run/gpu_clocks.h"
#include "run/judge_kernels.h"
#include "run/runner_process.h"

namespace solstice::run {

struct ExpectedOutput {
  DeviceTensor oracle;                // float64 for floats
  std::optional<DeviceTensor> eager;  // PyTorch's own result
  numerics::Sum sum;                  // the reduction behind it, for the modelled error
  std::optional<DeviceTensor>
      room;  // f32: how far a value may lie off where the inputs do not determine it, else negative
  numerics::Errors tf32{-1, -1};  // of PyTorch's own result with TF32 allowed, negative where it was not measured
  numerics::OwnMath own = numerics::OwnMath::kStrict;
};

// One set of values. Keys are names of plan buffers. `given` covers every input, parameter and state, with the plan's
// strides; `expected` every output and every written state or input.
struct JudgeCase {
  std::string name;  // "seed 1, normal"
  std::string set;   // of the oracle
  std::map<std::string, DeviceTensor> given;
  std::map<std::string, ExpectedOutput> expected;
  bool tf32_measured = false;  // ExpectedOutput::tf32, as far as that could be
  bool merge_nonfinite =
      false;  // NaN and the infinities count as one class: for rewritten equations, on inputs that hold such
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
  int slots = 2;  // copies of inputs and outputs to time with, as far as memory allows; more than contents are not used
  double memory_share = 0.6;  // of the free device memory, for those copies
  int spares = 1;             // processes that are started at once when none is left
  int first_spares = 1;       // and at the beginning, where there may be time
};

enum class Tracer { kEvents, kCupti };

struct TimedBlock {
  std::vector<double> seconds;                        // of each repetition; empty where the verdict is not passed
  std::vector<std::string> activities;                // CUPTI: what one repetition ran
  std::vector<std::vector<double>> activity_seconds;  // CUPTI: of each activity, of each repetition
  Seconds launch;                                     // host time of a launch call
  Verdict verdict;                                    // of every timed output
};

class CandidateRun;

class Judge {
 public:
  static Result<std::unique_ptr<Judge>> start(JudgeOptions options);
  ~Judge();  // in any thread

  // How many copies of its tensors each of `processes` processes with this plan may have: at most JudgeOptions::slots,
  // as far as JudgeOptions::memory_share of the free memory goes, and one in any case.
  Result<int> slots_for(const std::filesystem::path& plan, int processes) const;

  // `slots`: copies of the tensors; 0: slots_for(plan, 1).
  Result<Verdict> verify(const std::filesystem::path& plan, const std::vector<JudgeCase>& cases, int slots = 0);

  // More cases for the plan that was verified last, in the same process: what another case left in memory must not
  // matter. Error bad_argument without such a plan.
  Result<Verdict> verify_more(const std::vector<JudgeCase>& cases);

  // The candidate that was verified last, its process alive; null where there is none. use() makes one that is still
  // held the current one again, so that several can be timed in turn.
  std::shared_ptr<CandidateRun> held() const { return current_; }
  void use(std::shared_ptr<CandidateRun> candidate) { current_ = std::move(candidate); }

  // `repetitions` executions of the plan that was verified last, with a cold L2, each on other content at another
  // address as far as cases and slots allow; every timed output is checked. Error bad_argument without such a plan.
  Result<TimedBlock> time_block(const std::vector<JudgeCase>& cases, int repetitions, Tracer tracer = Tracer::kEvents);

  // Lets go of the current candidate: its process ends and its memory is freed unless it is held elsewhere.
  void release();
  // From now on it works for this one of several who share it (any address that tells them apart): what is opened is
  // its own, and the candidate of the one before is let go. IpcImports::close_all_of() closes what one has opened.
  void serve(const void* client);
  // Ends the waiting processes without waiting for their end, where no further candidate is expected.
  void dismiss_spares();
  // CUDA's current context belongs to a thread: call this first where another thread started the judge.
  Status adopt_thread() const { return context_.make_current(); }
  bool sound()
      const;  // its CUDA context works: an error that sticks fails every later call, and every judge of this process
  Result<Bytes> free_memory() const;
  Result<Bytes> total_memory() const;

  Result<RunnerHello> runner();          // what a runner says about itself: GPU, CUPTI, sandbox
  ClockReading clocks() const;           // all unknown without NVML
  std::optional<double> joules() const;  // GpuClocks::joules(); nothing without NVML
  IpcImports& imports() { return imports_; }
  JudgeKernels& kernels() { return *kernels_; }
  Result<std::string> scrub();  // path of a cubin for RunnerLoad::scrub; compiled when it is first asked for
  const rt::Driver& driver() const { return driver_; }
  const rt::DeviceContext& device() const { return context_; }
  int64_t flush_bytes() const { return flush_bytes_; }
  const JudgeOptions& options() const { return options_; }
  void set_policy(numerics::Policy policy) { options_.policy = policy; }  // of the limits, from the next verdict on

 private:
  Judge(const rt::Driver& driver, rt::DeviceContext context, JudgeOptions options);
  Result<RunnerProcess> take_runner();
  Status start_spares(int count);
  Status settle();
  Status run_cases(CandidateRun& run, const std::vector<JudgeCase>& cases, Verdict& into);
  Result<int> fitting_slots(const Plan& plan, int processes) const;

  const rt::Driver& driver_;
  rt::DeviceContext context_;
  JudgeOptions options_;
  IpcImports imports_;
  std::unique_ptr<JudgeKernels> kernels_;
  std::optional<TempFolder> scrub_;
  std::optional<GpuClocks> clocks_;
  int64_t flush_bytes_ = 0;
  std::vector<RunnerProcess> spares_;
  std::shared_ptr<CandidateRun> current_;
  const void* client_ = nullptr;
};

}  // namespace solstice::run
