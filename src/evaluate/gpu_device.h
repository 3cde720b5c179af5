// The GPU device: candidates are compiled while others are measured, then verified by the judge and timed.
#pragma once

#include <filesystem>
#include <map>
#include <vector>

#include "evaluate/preparation.h"
#include "run/judge.h"
#include "search/search.h"
#include "sol/sol.h"

namespace solstice::evaluate {

struct GpuDeviceOptions {
  std::filesystem::path folder;            // plans and cubins of trial N go to folder/N
  int repetitions = 12;                    // timed a trial
  const sol::SolReport* bounds = nullptr;  // a time below what they allow with a cold L2 voids the trial; null: none is known
};

class GpuDevice : public search::Evaluator {
 public:
  // `judge`, `compiler` and `cases` outlive the device. A trial is verified with the first case and timed, every output
  // checked, with all of them in turn.
  GpuDevice(Setting setting, toolchain::Compiler& compiler, run::Judge& judge, const std::vector<run::JudgeCase>& cases,
            GpuDeviceOptions options);
  void start(const search::Node& node) override;
  Result<search::Measurement> finish(const search::Node& node) override;

  std::filesystem::path plan_of(int node) const { return folder_of(node) / "plan.json"; }
  std::filesystem::path folder_of(int node) const { return options_.folder / std::to_string(node); }

 private:
  Status measure(const search::Node& node, const Preparation& candidate, search::Measurement& out);

  Setting setting_;
  toolchain::Compiler& compiler_;
  run::Judge& judge_;
  const std::vector<run::JudgeCase>& cases_;
  GpuDeviceOptions options_;
  std::map<int, Preparation> pending_;
};

// The state of a trial whose verdict this is.
TrialState state_of(const Verdict& verdict);

}  // namespace solstice::evaluate
