// One GPU that candidates are measured on: verified by its judge, then timed.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "evaluate/findings/diagnosis.h"
#include "evaluate/trial_builds.h"
#include "record/kernel_trace.h"
#include "run/judge.h"
#include "sol/sol.h"

namespace solstice::evaluate {

struct GpuMeterOptions {
  int repetitions = 12;  // timed a trial; a quarter of them for a rough one, four times as many for a precise one
  const sol::SolReport* bounds =
      nullptr;  // a time below what they allow with a cold L2 voids the trial; null: none is known
  DiagnosisOptions diagnosis = {};
  std::optional<int> gpu = {};  // that the record of a measurement names, where there are several
  // Further cases for what passed with this verdict and the judge holds; null: none.
  std::function<Result<Verdict>(const Verdict&)> further = {};
};

// For one thread, where the judge's GPU is current.
class GpuMeter {
 public:
  // All but the options outlives it. A trial is verified with the first case and timed, every output checked, with all
  // of them in turn. The fastest so far has to pass the further cases too, where its program brought device code, whose
  // equations are a claim. Of one that passed and is not far behind the best, whose call has several steps, the record
  // has the time by kernel (`trace`, a KernelTrace), or why it could not be taken.
  GpuMeter(const TrialBuilds& builds, run::Judge& judge, const std::vector<run::JudgeCase>& cases,
           GpuMeterOptions options);
  // Waits for the compiler. What is within 1.25 times of the best is being diagnosed afterwards: trial.conclude() adds
  // what that says. An error: of this machine, or of the judge.
  Result<search::Measurement> measure(BegunTrial& trial);

 private:
  int repetitions(search::Precision precision) const;
  Status judge(BegunTrial& trial, search::Measurement& out, Verdict& verdict);
  bool wants_places() const { return options_.diagnosis.keep_facts || options_.diagnosis.counters; }
  void begin_reading(BegunTrial& trial);
  Status judge_further(const Plan& plan, const Verdict& passed, search::Measurement& out);
  bool is_best(const search::Measurement& found) const {
    return found.state == TrialState::kVerified && (best_.value <= 0 || found.time < best_);
  }
  // `facts`: that get the trace too; null: none do.
  void trace(const Plan& plan, Facts* facts, search::Measurement& out);
  Result<KernelTrace> traced(const Plan& plan, Facts* facts, search::Measurement& out);
  Facts facts_of(const Preparation& candidate, const search::Measurement& measured) const;
  void count(int node, Facts& facts);
  void begin_diagnosis(BegunTrial& trial, search::Measurement& out);

  const TrialBuilds& builds_;
  run::Judge& judge_;
  const std::vector<run::JudgeCase>& cases_;
  GpuMeterOptions options_;
  std::vector<CodeReading> unread_;  // of trials that nobody diagnoses; nobody waits for them
  Seconds best_;                     // of those that passed here or before the run was resumed; 0: none has
};

// The state of a trial whose verdict this is.
TrialState state_of(const Verdict& verdict);

}  // namespace solstice::evaluate
