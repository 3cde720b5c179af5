// What one run of `optimize` holds while it goes through its stages. Each stage is a function of a stage_*.h file that
// reads and extends it; optimize.cpp calls them in order.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "evaluate/gpu_device.h"
#include "evaluate/model_device.h"
#include "flow/cases.h"
#include "flow/optimize.h"
#include "flow/problem.h"
#include "machine/machine.h"
#include "propose/expert.h"
#include "search/search.h"
#include "store/store.h"
#include "toolchain/compiler.h"

namespace solstice::flow {

// A candidate that passed every case of the full verification and was measured against the original.
struct Accepted {
  int node = -1;
  Verdict verdict;
  Timing timing;
};

// The processes behind a session. They outlive it in a bench.
struct Engine::Parts {
  std::optional<run::OracleClient> oracle;
  OracleHello hello;
  std::unique_ptr<toolchain::Compiler> compiler;  // null on a model device without one
  std::unique_ptr<run::Judge> judge;              // null on the model device
  std::string judge_numerics;                     // policy that the judge was started with
};

struct Session {
  Session(const OptimizeOptions& o, Progress& p, Engine& e)
      : options(o), progress(p), engine(e.parts()), oracle(engine.oracle), hello(engine.hello), compiler(engine.compiler), judge(engine.judge) {}

  const OptimizeOptions& options;
  Progress& progress;
  std::filesystem::path out;
  Report report;
  std::optional<store::Store> store;

  Engine::Parts& engine;
  std::optional<run::OracleClient>& oracle;
  OracleHello& hello;
  bool gpu = false;
  std::optional<machine::Machine> machine;
  std::optional<Problem> problem;
  Seconds bound_io{0};
  Seconds bound_practical{0};

  std::unique_ptr<toolchain::Compiler>& compiler;
  std::unique_ptr<run::Judge>& judge;
  std::optional<PreparedCase> trial_case;
  std::vector<run::JudgeCase> trial_cases;
  Seconds eager{0};

  std::optional<ir::Program> scheduled;           // the partition, applied
  std::unique_ptr<propose::Expert> expert;
  std::unique_ptr<search::Evaluator> device;
  evaluate::GpuDevice* gpu_device = nullptr;      // `device`, where it is one
  search::Tree tree;
  search::Stop stop = search::Stop::kExhausted;
  std::optional<Accepted> winner;

  evaluate::Setting setting() const { return {*machine, options.numerics, options.frozen}; }
  Standing standing() const;
};

// Runs `body` as a named stage of the progress display; its text result is the stage's closing detail.
template <typename Body>
Status stage(Session& state, std::string_view name, std::string_view detail, Body&& body) {
  const Seconds began = monotonic_now();
  state.progress.stage_started(name, detail);
  Result<std::string> done = body();
  if (!done.ok()) return std::move(done).error();
  state.progress.stage_finished(name, *done, monotonic_now() - began);
  return success();
}

// stage_prepare.cpp: everything before the first candidate.
Status start_oracle(Session& state);
Status import_problem(Session& state);
Status compute_bounds(Session& state);
Status plan_kernels(Session& state);
Status open_device(Session& state);

// stage_search.cpp
Status search_candidates(Session& state);

// stage_accept.cpp: full verification of the best, ABBA against the original, the drop-in and its checks.
Status accept_winner(Session& state);
Status check_dropin(Session& state);

}  // namespace solstice::flow
