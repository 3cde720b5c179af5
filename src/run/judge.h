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
#include <memory>
#include <optional>
#include <vector>

#include "run/candidate_run.h"
#include "run/judge_case.h"
#include "run/judge_device.h"
#include "run/runner_process.h"

namespace solstice::run {

struct ProfileLimits {
  Seconds start{60};  // until the runner's first answer
  Seconds work{120};  // of loading, of prepare and of the launch, which a profiler repeats
  Seconds end{60};    // of the profiler, for its results
};

struct ProfiledRun {
  CaseVerdict verdict;  // of the case; its times are no results
  RunnerEnd end;        // of the profiler
  Json sandbox;
};

class Judge {
 public:
  static Result<std::unique_ptr<Judge>> start(JudgeOptions options);
  ~Judge();  // in any thread

  // Copies of its tensors that each of `processes` processes with this plan may have: at most JudgeOptions::slots,
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

  // One case of a plan in a process of its own under a profiler, results checked as ever. The candidate that is held
  // stays, and so does its memory. Errors besides those of judging: process_failed and deadline before the candidate is
  // loaded, deadline of the end.
  Result<ProfiledRun> profile(const std::filesystem::path& plan, const JudgeCase& test, const Profiler& profiler,
                              const ProfileLimits& limits = {});

  // Lets go of the current candidate: its process ends and its memory is freed unless it is held elsewhere.
  void release();
  // From now on it works for this one of several who share it (any address that tells them apart): what is opened is
  // its own, and the candidate of the one before is let go. IpcImports::close_all_of() closes what one has opened.
  void serve(const void* client);
  // Ends the waiting processes without waiting for their end, where no further candidate is expected.
  void dismiss_spares();
  // CUDA's current context belongs to a thread: call this first where another thread started the judge.
  Status adopt_thread() const { return device_.context().make_current(); }
  // The CUDA context works: an error that sticks fails every later call, and every judge of this process.
  bool sound() const { return device_.sound(); }
  Result<Bytes> free_memory() const { return device_.free_memory(); }
  Result<Bytes> total_memory() const { return device_.total_memory(); }

  Result<RunnerHello> runner();  // a runner's answer about itself: GPU, CUPTI, sandbox
  ClockReading clocks() const { return device_.clocks(); }
  std::optional<double> joules() const { return device_.joules(); }
  IpcImports& imports() { return device_.imports(); }
  JudgeKernels& kernels() { return device_.kernels(); }
  const rt::Driver& driver() const { return device_.driver(); }
  const rt::DeviceContext& device() const { return device_.context(); }
  const JudgeOptions& options() const { return device_.options(); }
  // Policy of the limits, from the next verdict on.
  void set_policy(numerics::Policy policy) { device_.options().policy = policy; }

 private:
  Judge(const rt::Driver& driver, rt::DeviceContext context, JudgeOptions options);
  Result<RunnerProcess> take_runner();
  Status start_spares(int count);
  Status settle();
  Status run_cases(CandidateRun& run, const std::vector<JudgeCase>& cases, Verdict& into);
  Result<int> fitting_slots(const Plan& plan, int processes) const;

  // Declared first, so that it is the last to go: waiting for these processes takes a while, and memory of others stays
  // taken for as long as `device_` has it mapped. They export none themselves.
  std::vector<RunnerProcess> spares_;
  JudgeDevice device_;
  std::shared_ptr<CandidateRun> current_;
  const void* client_ = nullptr;
};

}  // namespace solstice::run
