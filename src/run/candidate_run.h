// One candidate in one runner process: fills, launches, checks. Judge drives it.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "rt/arena.h"
#include "run/finding.h"
#include "run/judge_case.h"
#include "run/judge_device.h"
#include "run/runner_process.h"

namespace solstice::run {

constexpr uint8_t kRedZone = 0xa7;
constexpr uint8_t kPoison = 0xff;  // NaN in every float format
constexpr uint8_t kPassPoison[2] = {kPoison,
                                    0x5a};  // of workspace and of integers, by pass: -1 may be what is expected

inline uint8_t output_poison(const PlanBuffer& buffer, int pass) {
  return is_float(buffer.dtype) ? kPoison : kPassPoison[pass];
}
inline bool is_given(const PlanBuffer& buffer) { return buffer.kind != BufferKind::kOutput; }
inline bool must_stay(const PlanBuffer& buffer) { return is_given(buffer) && !buffer.written; }
inline bool is_expected(const PlanBuffer& buffer) { return buffer.kind == BufferKind::kOutput || buffer.written; }

class CandidateRun {
 public:
  // Without `limits` those of the device's options.
  CandidateRun(JudgeDevice& device, RunnerProcess runner, Plan plan, std::optional<JudgeLimits> limits = {});
  ~CandidateRun();
  CandidateRun(const CandidateRun&) = delete;

  Result<Finding> load(const std::filesystem::path& plan_json, int slots);
  Result<CaseVerdict> run_case(const JudgeCase& test, int pass);
  Result<TimedBlock> time(const std::vector<JudgeCase>& cases, int repetitions, Tracer tracer);
  // Names and sizes of a case against the plan. Error bad_argument.
  Status check_case(const JudgeCase& test) const;

  int slots() const { return static_cast<int>(layout_.slots.size()); }
  const RunnerLoaded& loaded() const { return loaded_; }
  Seconds prepare_time() const { return prepare_time_; }
  const Json& sandbox() const { return sandbox_; }
  // The last call: lets go of its memory, ends the process and waits for the end (RunnerProcess::finish).
  Result<RunnerEnd> finish(Seconds limit);

 private:
  const PlanBuffer& interface_buffer(size_t i) const { return plan_.buffers[interface_[i]]; }
  cu::DevicePtr at(const rt::ArenaRange& range) const { return arena_ + static_cast<uint64_t>(range.offset); }

  Result<Finding> start_over(int slot, const JudgeCase& test, int pass);  // before a batch of launches
  Status poison(int pass, bool persistent);
  // The values of a case, into a slot; without `inputs`, parameters and states alone.
  Status give(int slot, const JudgeCase& test, bool inputs);
  Result<Finding> launch(int slot, CaseVerdict& into);
  Result<Finding> check_gaps();
  Result<Finding> check_inputs(int slot, const JudgeCase& test);
  Result<Finding> check_outputs(int slot, const JudgeCase& test, int pass, std::vector<OutputVerdict>& into);
  Result<CaseVerdict> check(int slot, const JudgeCase& test, int pass, CaseVerdict verdict);
  Result<OutputVerdict> judge_output(const PlanBuffer& buffer, cu::DevicePtr address, const ExpectedOutput& expected,
                                     uint8_t poison, bool merge_nonfinite);
  Result<Finding> time_some(const std::vector<const JudgeCase*>& contents, int most, Tracer tracer, TimedBlock& out);

  void close_memory();

  JudgeDevice& device_;
  JudgeLimits limits_;
  RunnerProcess runner_;
  Plan plan_;
  std::vector<size_t> interface_;
  rt::ArenaLayout layout_;
  RunnerLoaded loaded_;
  cu::DevicePtr arena_ = 0;
  bool prepared_ = false;
  Seconds prepare_time_;
  Json sandbox_;
  uint64_t batch_ = 0;  // of timed repetitions
};

}  // namespace solstice::run
