// The source `counters`: hardware counters and warp states of single launches of a plan, read by ncu from a
// solstice-runner that it starts (docs/architecture.md, "Processes and trust").
//
//   CounterRequest request;
//   request.plan = folder / "plan.json";
//   request.steps = {"up"};
//   SOLSTICE_TRY(const CounterRun run, counters_of(request, with_judge(judge, request.plan, test)));
//   if (auto found = run.steps.find("up"); found != run.steps.end()) sheet_step.counters = found->second;
//   facts.sources.push_back(run.source);
//
// One process reads the launches of several steps, each replayed by ncu as often as the counters need, each time on the
// memory that it found, with flushed caches and at the clocks that the GPU has. Its times are no results. What a shared
// process does not answer is read alone. Whatever a machine lacks costs what depends on it and is said in `source`; a
// value that could not be read is a note.
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

// By a judge, on the inputs of a case; the judge, the plan and the case outlive it.
ProfiledWork with_judge(run::Judge& judge, const std::filesystem::path& plan, const run::JudgeCase& test);

// Errors: not_found, bad_json and bad_record of the plan, bad_argument (no such launch), io_error and disk_full of
// temporary files.
Result<CounterRun> counters_of(const CounterRequest& request, const ProfiledWork& work);

}  // namespace solstice::diagnose
