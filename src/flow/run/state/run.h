// What one run of `optimize` holds while it goes through its stages. Each stage is a function declared below,
// in a stage_*.cpp file, that reads and extends it; optimization.cpp calls them in order.
#pragma once

#include <filesystem>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "evaluate/gpu_device.h"
#include "evaluate/gpu_fleet.h"
#include "evaluate/meaning.h"
#include "evaluate/model_device.h"
#include "flow/run/agent/agent_side.h"
#include "flow/run/problem/cases.h"
#include "flow/run/gpu/gpu_side.h"
#include "flow/run/optimize.h"
#include "flow/run/problem/problem.h"
#include "machine/machine.h"
#include "propose/expert.h"
#include "search/search.h"
#include "sol/sol.h"
#include "store/store.h"
#include "toolchain/compiler.h"

namespace solstice::flow {

// One of the fastest candidates of the search. It wins when it passed every case of the full verification and was the
// fastest of them when they were timed in turn.
struct Finalist {
  int node = -1;
  std::optional<Verdict> verdict;  // of the full verification
  std::vector<ErrorRow> errors;
  std::shared_ptr<run::CandidateRun> process;  // held to be timed
  std::optional<Timing> timing;
  std::optional<Measured> span;         // from its first kernel's start to its last activity's end, by CUPTI
  std::vector<std::string> activities;  // what one execution ran
  std::vector<TracedKernel> by_kernel;  // the same by the program's kernels
  std::string refused;                  // why it is out, "" while it is in
};

// What a run made ready of a problem, for the next one of the same under other options.
struct Prepared {
  std::filesystem::path file;
  std::string class_name;
  Problem problem;
  std::unique_ptr<evaluate::Meaning> meaning;
  std::optional<PreparedCase> trial_case;
  std::vector<run::JudgeCase> trial_cases;
  Seconds eager{0}, eager_dispatch{0};
  std::vector<std::string> warnings;
};

// The processes behind a session. They outlive it in a bench. Engines may share compiler and judge, where one session
// has its turn at a time.
struct Engine::Parts {
  std::optional<run::OracleClient> oracle;
  OracleHello hello;
  std::shared_ptr<toolchain::Compiler> compiler;  // null on a model device without one
  std::shared_ptr<run::Judge> judge;              // null on the model device
  GpuSideRequest judge_request;                   // what the judge was started with
  std::vector<FurtherGpu> further;                // the GPUs beside the judge's, in the order of --devices
  std::string driver;                             // its version
  std::optional<Prepared> prepared;
  std::filesystem::path opponents_of;  // a process prepares those of this file's module; "": none does
};

// A search that is under way.
struct Searching {
  std::unique_ptr<search::Policy> policy;
  Deadline deadline;
  search::Observer observer;
  std::optional<search::Search> search;
};

struct Session {
  Session(const OptimizeOptions& o, Progress& p, Engine& e)
      : options(o),
        agent_choice(o.agent),
        progress(p),
        engine(e.parts()),
        oracle(engine.oracle),
        hello(engine.hello),
        compiler(engine.compiler),
        judge(engine.judge) {}

  const OptimizeOptions& options;
  AgentChoice agent_choice;  // with what a run that goes on had, once it has begun
  Seconds began = monotonic_now();
  Progress& progress;
  std::filesystem::path out;
  std::filesystem::path fresh;  // the outcome in the making; moved to `out` when it is whole
  Report report;
  std::optional<store::Store> store;
  std::string source;  // of the user's file
  std::string problem_key;

  Engine::Parts& engine;
  std::optional<run::OracleClient>& oracle;
  OracleHello& hello;
  bool gpu = false;
  std::optional<machine::Machine> machine;
  std::future<Result<GpuSide>> gpu_side;        // starting
  std::map<std::string, Seconds> spent_before;  // by the oracle, in earlier runs of the engine
  std::optional<Problem> problem;
  Seconds bound_io{0};
  std::optional<sol::SolReport> sol;  // what no measured time can be below
  Seconds bound_practical{0};

  std::shared_ptr<toolchain::Compiler>& compiler;
  std::shared_ptr<run::Judge>& judge;
  std::unique_ptr<evaluate::Meaning> meaning;
  std::optional<PreparedCase> trial_case;
  std::vector<run::JudgeCase> trial_cases;
  Seconds eager{0};
  Seconds eager_dispatch{0};                  // host time of a call of the original
  std::vector<std::string> prepare_warnings;  // of everything up to here

  std::shared_ptr<const ir::Program> scheduled;  // the partition that is predicted to be fastest, applied
  std::unique_ptr<propose::Expert> expert;
  std::unique_ptr<AgentSide> agent;               // null: the expert works alone
  std::optional<Error> agent_failed;              // what it could not go on for; the run goes on with what there is
  std::unique_ptr<evaluate::TrialBuilds> builds;  // null on the model device
  std::unique_ptr<search::Evaluator> device;
  evaluate::Fleet* fleet =
      nullptr;         // `device`, where it is several GPUs: the judge is this thread's only while it rests
  std::string policy;  // of the search
  std::unique_ptr<search::Policy> chooser;  // that policy, until the search has it
  std::optional<Error> policy_failed;       // what it could not decide for; the run goes on with what there is
  bool measured_elsewhere = false;          // in batches: what has no GPU here is not predicted for that
  int64_t facts = 0;                        // number of the last fact of other problems that it goes by; 0: of none
  std::optional<store::LoadedRun> resumed;
  search::Tree tree;
  std::unique_ptr<Searching> searching;
  search::Stop stop = search::Stop::kExhausted;
  std::vector<Finalist> finalists;   // fastest in the search first
  const Finalist* winner = nullptr;  // of them
  bool rivals = false;               // a process for the opponents was started

  std::string text_name = "candidate";  // what diagnostics call a candidate's text

  evaluate::Setting setting() const { return {*machine, options.numerics, options.frozen, meaning.get(), text_name}; }
  Standing standing() const;
};

// stage_search.cpp: what ends the expert's part, with the run's options; and what a language model's.
search::Budget expert_budget(const Session& state);
search::Budget agent_budget(const Session& state);

// Repetitions of a block: fewer where every one moves so much memory (fresh inputs, checked outputs) that the block
// would take long; the kernels are long then too.
int repetitions_for(const Problem& problem, int usual);

// Runs `body` as a named stage of the progress display; its text result is the stage's closing detail.
template <typename Body>
Status stage(Session& state, std::string_view name, std::string_view detail, Body&& body) {
  const Seconds began = monotonic_now();
  state.progress.stage_started(name, detail);
  Result<std::string> done = body();
  if (!done.ok()) return std::move(done).error();
  state.report.timings[std::string(name)] += monotonic_now() - began;
  state.progress.stage_finished(name, *done, monotonic_now() - began);
  return success();
}

// opening.cpp: as it is read from any folder.
std::string whole_path(const std::filesystem::path& path);

// stage_prepare.cpp: everything before the first candidate.
Status start_oracle(Session& state);
Status import_problem(Session& state);
Status compute_bounds(Session& state);
Status open_compiler(Session& state);  // and, on a GPU, the judge

// stage_device.cpp: what measures candidates, or predicts their times.
Status open_device(Session& state);
// After the search: all that follows is measured on the first GPU, by this thread.
void close_fleet(Session& state);

// bounds.cpp: no rung may lie above what other equations of the same problem could reach.
Status lower_bounds(Session& state, const ir::Program& rewritten);

// stage_plan.cpp
Status plan_kernels(Session& state);
Status bound_rewritten(Session& state);  // as planning lowers the bounds, for who only measures

// prepared.cpp: the case that trials are verified with, another for timing where memory has room, and the original's
// time.
Status prepare_trial(Session& state);
// What the run before made ready, where it was of the same module. False: nothing is.
bool take_prepared(Session& state);
void keep_prepared(Session& state);

// stage_search.cpp: all of it as a stage, or begun and taken forward trial by trial.
Status search_candidates(Session& state);
Status begin_search(Session& state);
Result<std::optional<search::Stop>> step_search(Session& state);

// stage_finalists.cpp: the fastest are verified in full and timed in turn against the original.
Status choose_winner(Session& state);
// stage_dropin.cpp: the drop-in and its checks. What the oracle loads as one: model_new.py, or for a module given as an
// object the recording, which it attaches to the module.
std::filesystem::path dropin_path(const Session& state);
Status check_dropin(Session& state);
// stage_rivals.cpp: the other opponents.
Status start_rivals(Session& state);  // what they need of the host, beside all else
Status time_rivals(Session& state);

}  // namespace solstice::flow
