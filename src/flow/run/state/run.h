// State that spans a run. Everything else is a value that one stage returns and later ones take (stages/*.h).
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/process/interrupt.h"
#include "base/stop.h"
#include "flow/run/agent/agent_side.h"
#include "flow/run/state/engine_parts.h"
#include "flow/run/state/options.h"
#include "flow/run/state/stored_runs.h"
#include "record/progress.h"
#include "record/report.h"
#include "search/policy.h"
#include "search/tree.h"
#include "store/store.h"

namespace solstice::flow {

// The module's file as the options have it; "": none.
std::filesystem::path named_original(const ModuleOptions& module);

struct OutcomeFolders {
  std::filesystem::path out;
  std::filesystem::path fresh;  // the outcome in the making; moved to `out` when it is whole
};

struct Run {
  Run(RunOptions resolved, StoredRun place, Progress& p, EngineParts& e)
      : options(std::move(resolved)), progress(p), engine(e), stored(std::move(place)) {
    if (engine.oracle) spent_before = engine.oracle->spent();
    original = named_original(options.module);
  }
  // Of programs that are only measured: without a store there is nothing to resolve.
  Run(OptimizeOptions given, Progress& p, EngineParts& e) : Run(RunOptions{std::move(given)}, {}, p, e) {}

  RunOptions options;
  Progress& progress;
  EngineParts& engine;
  Seconds began = monotonic_now();
  std::map<std::string, Seconds> spent_before;  // by the oracle, in earlier runs of the engine
  OutcomeFolders folders;
  std::string why_predicted;       // nothing is measured, of a program without a module
  std::filesystem::path original;  // file of the module, for Python; "": there is none, or the caller holds it
  Report report;
  StoredRun stored;
  search::Tree tree;
  std::unique_ptr<search::Policy> policy;  // until the search takes it
  std::unique_ptr<AgentSide> agent;        // null: the expert works alone
  StopTest search_is_over = {};            // while there is a search: asked by its trials
  bool rivals_started = false;             // the oracle was asked to prepare the opponents
  Seconds imported{0};                     // of the budget: loading and tracing the module
};

// The problem is a program, and there is no module that computes it: no inputs, nothing that is measured.
bool lacks_module(const Run& run);

inline constexpr const char* kNothingUsable = "stopped before any candidate was found usable";

// Runs `body` as a named stage of the progress display; its text result is the stage's closing detail. Error
// `interrupted`: Ctrl-C came, and there is no candidate yet that the rest could be about.
template <typename Body>
Status stage(Run& run, std::string_view name, std::string_view detail, Body&& body) {
  const Seconds began = monotonic_now();
  run.progress.stage_started(name, detail);
  Result<std::string> done = body();
  if (!done.ok()) return std::move(done).error();
  if (interrupted() && !run.tree.best()) return fail(Code::interrupted, kNothingUsable);
  run.report.timings[std::string(name)] += monotonic_now() - began;
  run.progress.stage_finished(name, *done, monotonic_now() - began);
  return success();
}

// Adds a warning to the report and tells it at once.
void warn_now(Run& run, const std::string& text);

// Number of trials that have come in.
int trials_done(const search::Tree& tree);

// An event of the search, into the store; `trial`: the one that it ends.
Status keep_event(Run& run, size_t number, const TrialRecord* trial);
// Keeps the events from number `told` on, which end no trial.
Status keep_events_since(Run& run, size_t told);

// Opens nodes again for the proposer that leads now (agent/handover.h).
Status open_nodes_again(Run& run);

}  // namespace solstice::flow
