// The GPU device: candidates are compiled while others are measured, then verified by the judge and timed.
#pragma once

#include <filesystem>
#include <map>
#include <vector>

#include "evaluate/preparation.h"
#include "record/kernel_trace.h"
#include "run/judge.h"
#include "search/search.h"
#include "sol/sol.h"

namespace solstice::evaluate {

struct GpuDeviceOptions {
  std::filesystem::path folder;            // plans and cubins of trial N go to folder/N
  int repetitions = 12;                    // timed a trial; a quarter of them for a rough one, four times as many for a precise one
  const sol::SolReport* bounds = nullptr;  // a time below what they allow with a cold L2 voids the trial; null: none is known
};

class GpuDevice : public search::InOrder {
 public:
  // `judge`, `compiler` and `cases` outlive the device. A trial is verified with the first case and timed, every output
  // checked, with all of them in turn. Of one that passed and is not far behind the best, whose call has several steps, the record
  // has the time by kernel (`trace`, a KernelTrace), or why it could not be taken.
  GpuDevice(Setting setting, toolchain::Compiler& compiler, run::Judge& judge, const std::vector<run::JudgeCase>& cases,
            GpuDeviceOptions options);
  // A trial's plan and cubins, where its folder does not hold them: it was measured before the run was resumed.
  Status build(const search::Node& node);
  std::filesystem::path plan_of(int node) const { return folder_of(node) / "plan.json"; }
  std::filesystem::path folder_of(int node) const { return options_.folder / std::to_string(node); }

 protected:
  void begin(const search::Node& node) override;
  Result<search::Measurement> finish(int node) override;

 private:
  struct Pending {
    Pending(const search::Node& node, const Setting& setting, toolchain::Compiler& compiler)
        : candidate(node.proposal.program, setting, &compiler), precision(node.proposal.precision) {}
    Preparation candidate;
    search::Precision precision;
  };
  int repetitions(search::Precision precision) const;
  Status measure(int node, search::Precision precision, search::Measurement& out);
  void trace(const Plan& plan, search::Measurement& out);
  Result<KernelTrace> traced(const Plan& plan, search::Measurement& out);

  Setting setting_;
  toolchain::Compiler& compiler_;
  run::Judge& judge_;
  const std::vector<run::JudgeCase>& cases_;
  GpuDeviceOptions options_;
  std::map<int, Pending> pending_;
  Seconds best_;  // of those that passed since the device was opened; 0: none has
};

// The state of a trial whose verdict this is.
TrialState state_of(const Verdict& verdict);

}  // namespace solstice::evaluate
