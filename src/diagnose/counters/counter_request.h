// What is asked of the source `counters`, and what it answers.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/stop.h"
#include "record/diagnosis/facts.h"
#include "run/judge.h"

namespace solstice::diagnose {

struct CounterRequest {
  std::filesystem::path plan;             // plan.json, its cubins beside it
  std::vector<std::string> steps;         // launches of the plan by name, the most wanted first
  std::vector<std::string> metrics = {};  // ncu's names; none: counter_metrics()
  bool sampling = true;                   // warp states by address, in a pass of their own
  size_t most_hot = 32;                   // places of a launch
  run::ProfileLimits limits = {};         // of one process; less where less is left of `all`
  Seconds all{60};                        // of all: steps that would begin later are left out
  StopTest stop = {};                     // asked before each process
  std::filesystem::path ncu = {};         // empty: find_ncu()
  // Folder for what each process said, or empty: STEP.log, STEP.raw.csv, STEP.source.csv; STEP+N.* of a process that
  // read N steps more.
  std::filesystem::path keep = {};
};

struct CounterRun {
  SourceState source;                         // there: at least one step was read; others are in `missing`
  std::map<std::string, CounterFacts> steps;  // those that were read
  std::vector<std::string> notes;             // "step: value: reason"
  size_t processes = 0;                       // of ncu
  std::string version;                        // of ncu
  Seconds took;
};

// Runs the plan once, `prepare` and one launch of all its steps, with the runner under this profiler.
using ProfiledWork = std::function<Result<run::ProfiledRun>(const run::Profiler&, const run::ProfileLimits&)>;

}  // namespace solstice::diagnose
