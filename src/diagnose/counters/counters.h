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
// One process for each step, one launch of it, replayed by ncu as often as the counters need, each time on the memory
// that it found, with flushed caches and at the clocks that the GPU has. Its times are no results. Whatever a machine
// lacks costs what depends on it and is said in `source`; a value that could not be read is a note.
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
  run::ProfileLimits limits = {};         // of one step
  Seconds all{600};                       // of all: steps that would begin later are left out
  StopTest stop = {};                     // asked before each step
  std::filesystem::path ncu = {};         // empty: find_ncu()
  std::filesystem::path keep = {};        // folder for what ncu said, STEP.log, STEP.raw.csv, STEP.source.csv; or empty
};

struct CounterRun {
  SourceState source;                         // there: at least one step was read; `why`: of what is missing
  std::map<std::string, CounterFacts> steps;  // those that were read
  std::vector<std::string> notes;             // "step: value: reason"
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

// Launches of the kernel of this step that come before it where a plan is prepared and launched once.
int launches_before(const Plan& plan, const Step& step);

}  // namespace solstice::diagnose
