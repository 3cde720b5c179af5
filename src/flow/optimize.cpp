#include "flow/optimize.h"

#include <fmt/format.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/interrupt.h"
#include "base/version.h"
#include "flow/report.h"
#include "flow/session.h"

namespace solstice::flow {
namespace fs = std::filesystem;
namespace {

std::string name_of_problem(const OptimizeOptions& options) {
  if (!options.problem.empty()) return options.problem;
  return options.file.empty() ? "module" : options.file.stem().string();
}

// A problem that Solstice cannot express or run yet is an outcome; everything else that goes wrong is an error.
bool is_outcome(const Error& error) {
  return error.code == Code::unsupported_operator || error.code == Code::not_yet || error.code == Code::module_trace;
}

Status open_store(Session& state) {
  fs::path folder = state.options.store;
  if (folder.empty()) {
    SOLSTICE_TRY(folder, store::Store::default_folder());
  }
  SOLSTICE_TRY(store::Store store, store::Store::open(folder));
  state.store.emplace(std::move(store));
  RunRecord run;
  run.problem = name_of_problem(state.options);
  run.file = state.options.file.string();
  std::string source;
  if (!run.file.empty()) {
    SOLSTICE_TRY(source, read_file(state.options.file));
  }
  run.problem_key = hash_hex(source + state.options.class_name);
  run.options_key = Hasher().add(state.options.device).add(state.options.numerics).add(int64_t{state.options.frozen}).hex();
  run.command = state.options.command;
  run.device = state.options.device;
  run.folder = state.out.string();
  run.versions["solstice"] = std::string(version());
  SOLSTICE_TRY(state.report.run, state.store->begin_run(std::move(run)));
  return success();
}

void begin_report(Session& state) {
  Report& report = state.report;
  report.problem = name_of_problem(state.options);
  report.file = state.options.file.string();
  report.command = state.options.command;
  report.created = utc_now();
  report.versions["solstice"] = std::string(version());
  report.options = {{"numerics", state.options.numerics},
                    {"weights", state.options.frozen ? "frozen" : "live"},
                    {"budget", fmt::format("{:.0f} s, {} trials", state.options.budget.value, state.options.trials)}};
}

Status run_stages(Session& state) {
  SOLSTICE_CHECK(start_oracle(state));
  SOLSTICE_CHECK(import_problem(state));
  SOLSTICE_CHECK(compute_bounds(state));
  SOLSTICE_CHECK(plan_kernels(state));
  SOLSTICE_CHECK(open_device(state));
  SOLSTICE_CHECK(search_candidates(state));
  SOLSTICE_CHECK(accept_winner(state));
  return check_dropin(state);
}

void add_candidates(Session& state) {
  for (const search::Node& node : state.tree.nodes()) {
    if (!node.measurement) continue;
    CandidateRow row;
    row.trial = node.id + 1;
    row.what = node.proposal.reason;
    row.state = enum_names(node.measurement->state)[static_cast<size_t>(node.measurement->state)];
    row.predicted = node.proposal.predicted;
    row.note = node.measurement->detail;
    if (state.gpu && node.usable()) {
      Measured time;
      time.median = node.measurement->time;
      row.time = time;
    }
    state.report.candidates.push_back(std::move(row));
  }
}

void add_baselines(Session& state) {
  if (state.eager.value <= 0) return;
  Baseline eager;
  eager.name = "PyTorch eager";
  eager.time.emplace();
  eager.time->median = state.winner ? state.winner->timing.baseline : state.eager;
  state.report.baselines.push_back(std::move(eager));
}

void add_clocks(Session& state) {
  if (!state.winner) return;
  const Timing& timing = state.winner->timing;
  std::string reasons;
  for (const std::string& reason : timing.throttle) reasons += (reasons.empty() ? "" : ", ") + reason;
  if (!timing.rounds.empty()) {
    state.report.clocks["SM, candidate"] = fmt::format("{:.0f} MHz", timing.rounds.back().candidate_mhz);
    state.report.clocks["SM, original"] = fmt::format("{:.0f} MHz", timing.rounds.back().baseline_mhz);
  }
  state.report.clocks["throttle reasons"] = reasons.empty() ? "none" : reasons;
}

// What the winner's time consists of, against the bounds.
void add_explanation(Session& state) {
  const search::Node* best = state.winner ? &state.tree.node(state.winner->node) : state.tree.best();
  if (!best) return;
  state.report.program = best->proposal.program;
  if (state.bound_practical.value <= 0) return;
  const Seconds time = state.winner ? state.winner->timing.candidate : best->measurement->time;
  state.report.bound_by = fmt::format("{:.4g} ms is {:.3g}x the practical bound of {:.4g} ms and {:.3g}x the io bound of {:.4g} ms",
                                      time.value * 1e3, time / state.bound_practical, state.bound_practical.value * 1e3,
                                      time / state.bound_io, state.bound_io.value * 1e3);
}

Status measure_memory(Session& state) {
  if (!state.gpu || state.report.outcome != RunOutcome::kFaster || !state.problem->subject.file) return success();
  SOLSTICE_TRY(const OracleMemory original, state.oracle->memory("trial"));
  SOLSTICE_TRY(const OracleMemory replacement, state.oracle->memory("trial", (state.out / "model_new.py").string()));
  state.report.original_peak_memory = original.peak;
  state.report.replacement_peak_memory = replacement.peak;
  return success();
}

Status write_outcome(Session& state) {
  add_candidates(state);
  add_baselines(state);
  add_clocks(state);
  add_explanation(state);
  if (state.problem) SOLSTICE_CHECK(write_file(state.out / "problem.ucut", state.problem->imported.text));
  if (!state.report.program.empty()) SOLSTICE_CHECK(write_file(state.out / "program.ucut", state.report.program));
  return write_report(state.report, state.out);
}

// Frees what this problem held on the GPU. An oracle or judge that failed is not used again: the next run starts another.
void release_engine(Session& state, const Status& done) {
  const bool broken = !done.ok() && !is_outcome(done.error());
  if (state.judge) {
    state.judge->release();
    state.judge->imports().close_all();
  }
  if (broken) state.judge.reset();
  if (state.oracle && (broken || !state.oracle->release().ok())) state.oracle.reset();
}

Json summary_of(const Report& report) {
  return Json::object().set("speedup", report.headline.speedup).set("predicted", report.predicted);
}

// The outcome of a model run: nothing was measured, so nothing can be faster.
void conclude_model(Session& state) {
  if (state.gpu || state.report.outcome != RunOutcome::kNone) return;
  state.report.outcome = RunOutcome::kNotFaster;
  const search::Node* best = state.tree.best();
  state.report.reason = best ? fmt::format("no GPU: the best candidate is predicted to take {:.4g} ms; nothing was measured",
                                           best->measurement->time.value * 1e3)
                             : "no GPU, and no candidate passed its checks";
}

}  // namespace

Engine::Engine() : parts_(std::make_unique<Parts>()) {}
Engine::~Engine() = default;

Result<OptimizeOutcome> optimize(const OptimizeOptions& options, Progress& progress) {
  Engine engine;
  return optimize(options, progress, engine);
}

Result<OptimizeOutcome> optimize(const OptimizeOptions& options, Progress& progress, Engine& engine) {
  Session state(options, progress, engine);
  state.out = options.out.empty() ? fs::path("runs") / name_of_problem(options) : options.out;
  SOLSTICE_CHECK(make_folder(state.out));
  begin_report(state);
  SOLSTICE_CHECK(open_store(state));

  Status done = run_stages(state);
  if (done.ok()) done = measure_memory(state);
  release_engine(state, done);
  if (!done.ok() && is_outcome(done.error())) {
    state.report.outcome = RunOutcome::kUnsupported;
    state.report.reason = done.error().message;
    done = success();
  }
  conclude_model(state);
  if (!done.ok()) {
    SOLSTICE_CHECK(state.store->finish_run(state.report.run, RunState::kFailed, RunOutcome::kNone, done.error().message, Json()));
    return std::move(done).error();
  }
  SOLSTICE_CHECK(write_outcome(state));
  SOLSTICE_CHECK(state.store->finish_run(state.report.run, interrupted() ? RunState::kInterrupted : RunState::kFinished,
                                         state.report.outcome, state.report.reason, summary_of(state.report)));
  return OptimizeOutcome{std::move(state.report), state.out};
}

}  // namespace solstice::flow
