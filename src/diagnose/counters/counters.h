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

#include "diagnose/counters/counter_request.h"

namespace solstice::diagnose {

// By a judge, on the inputs of a case; the judge, the plan and the case outlive it.
ProfiledWork with_judge(run::Judge& judge, const std::filesystem::path& plan, const run::JudgeCase& test);

// Errors: not_found, bad_json and bad_record of the plan, bad_argument (no such launch), io_error and disk_full of
// temporary files.
Result<CounterRun> counters_of(const CounterRequest& request, const ProfiledWork& work);

}  // namespace solstice::diagnose
