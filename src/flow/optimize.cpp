#include "flow/optimize.h"

#include <fmt/format.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/time_text.h"
#include "base/version.h"
#include "flow/conclusion.h"
#include "flow/described.h"
#include "flow/known.h"
#include "flow/outcome.h"
#include "flow/report.h"
#include "flow/resume.h"
#include "flow/session.h"

namespace solstice::flow {
namespace fs = std::filesystem;
namespace {

std::string name_of_problem(const OptimizeOptions& options) {
  if (!options.problem.empty()) return options.problem;
  return options.file.empty() ? "module" : options.file.stem().string();
}

// Before anything is written elsewhere: without a source or a store there will be no run.
Status open_store(Session& state) {
  fs::path folder = state.options.store;
  if (folder.empty()) {
    SOLSTICE_TRY(folder, store::Store::default_folder());
  }
  SOLSTICE_TRY(store::Store store, store::Store::open(folder));
  state.store.emplace(std::move(store));
  std::string source;
  if (!state.options.file.empty()) {
    SOLSTICE_TRY(source, read_file(state.options.file));
  }
  state.problem_key = hash_hex(source + state.options.class_name);
  return success();
}

std::string working_folder() {
  std::error_code gone;  // then nothing there can be reproduced
  return fs::current_path(gone).string();
}

// An outcome of another module keeps a folder that nobody named; in one that was named it is replaced, and that is said.
void choose_folder(Session& state) {
  const bool named = !state.options.out.empty();
  const fs::path wanted = named ? state.options.out : fs::path("runs") / name_of_problem(state.options);
  const std::string subject = subject_text(state.options.file, state.options.class_name), found = subject_in(wanted);
  state.out = named || subject.empty() ? wanted : folder_for(wanted, subject);
  if (subject.empty() || found.empty() || found == subject) return;
  state.progress.message(named
                             ? fmt::format("{} holds the outcome of {}; a new one replaces it", wanted.string(), found)
                             : fmt::format("{} holds the outcome of {}; this one goes to {}", wanted.string(), found, state.out.string()));
}

void begin_report(Session& state) {
  Report& report = state.report;
  report.problem = name_of_problem(state.options);
  report.file = whole_path(state.options.file);
  report.class_name = state.options.class_name;
  report.command = state.options.command;
  report.working_folder = working_folder();
  report.created = utc_now();
  report.versions["solstice"] = std::string(version());
  report.options = {{"numerics", state.options.numerics},
                    {"weights", state.options.frozen ? "frozen" : "live"},
                    {"rewrites", state.options.rewrites ? "on" : "off"},
                    {"budget", fmt::format("{:.0f} s, {} trials", state.options.budget.value, state.options.trials)}};
}

// For whoever asks the store later, and for the next search of this problem.
Status describe_run(Session& state) {
  std::map<std::string, std::string> versions = state.report.versions;
  versions["build"] = build_identity();
  return state.store->describe_run(state.report.run, state.report.machine, state.report.device, versions);
}

// A module given as an object has no text of its own: what was imported from it says which problem it is.
Status identify_object(Session& state) {
  if (!state.options.file.empty()) return success();
  state.problem_key = hash_hex(state.problem->imported.text);
  return state.store->identify_run(state.report.run, state.problem_key);
}

// Before anything is measured.
Status open_agent(Session& state) {
  if (!state.options.agent.wanted()) return success();
  SOLSTICE_TRY(state.agent, AgentSide::open(state.options.agent, state.store->folder() / "transcripts" / (state.report.run + ".jsonl")));
  state.report.options["agent"] = state.agent->title();
  return success();
}

Status run_stages(Session& state) {
  SOLSTICE_CHECK(open_agent(state));
  SOLSTICE_CHECK(start_oracle(state));
  SOLSTICE_CHECK(import_problem(state));
  SOLSTICE_CHECK(identify_object(state));
  SOLSTICE_CHECK(compute_bounds(state));
  SOLSTICE_CHECK(open_compiler(state));
  SOLSTICE_CHECK(describe_run(state));
  SOLSTICE_CHECK(plan_kernels(state));
  SOLSTICE_CHECK(open_device(state));
  if (state.agent) SOLSTICE_CHECK(state.agent->brief(state));
  SOLSTICE_CHECK(search_candidates(state));
  SOLSTICE_CHECK(choose_winner(state));
  SOLSTICE_CHECK(check_dropin(state));
  return time_rivals(state);
}

// Requests to the oracle lie within the stages.
void add_timings(Session& state) {
  state.report.timings["total"] = monotonic_now() - state.began;
  if (!state.oracle) return;
  for (const auto& [request, seconds] : state.oracle->spent()) {
    const auto before = state.spent_before.find(request);
    const Seconds spent = before == state.spent_before.end() ? seconds : seconds - before->second;
    if (spent.value > 0) state.report.timings["oracle: " + request] = spent;
  }
}

Status write_outcome(Session& state) {
  add_timings(state);
  SOLSTICE_CHECK(describe_search(state));
  if (state.problem) SOLSTICE_CHECK(write_file(state.fresh / "problem.ucut", state.problem->imported.text));
  if (!state.report.program.empty()) SOLSTICE_CHECK(write_file(state.fresh / "program.ucut", state.report.program));
  SOLSTICE_CHECK(write_report(state.report, state.fresh));
  return commit_outcome(state.fresh, state.out);
}

// Frees what this problem held on the GPU. An oracle or judge that failed is not used again: the next run starts another.
void release_engine(Engine& engine, Session& state, const Status& done) {
  const bool broken = !done.ok() && !is_of_the_user(done.error());
  if (state.judge) state.judge->release();
  if (broken) {
    if (state.judge) state.judge->imports().close_all();
    state.judge.reset();
    state.oracle.reset();
  }
  if (state.oracle) state.oracle->stop_when(nullptr);  // it asks this session
  if (state.options.keep && done.ok()) keep_prepared(state);
  if (!state.options.keep) engine.release_problem();
}

// What a reader of the run needs beside its events: the headline, and the ladder in seconds. Without an original that was timed
// there is none to tell.
Json summary_of(const Session& state) {
  const Report& report = state.report;
  Json summary = Json::object().set("speedup", report.headline.speedup).set("predicted", report.predicted);
  if (state.eager.value > 0) summary.set("original", state.eager.value);
  Json bounds = Json::object();
  for (const Bound& bound : report.bounds) bounds.set(bound.name, bound.time.value);
  if (bounds.size() > 0) summary.set("bounds", bounds);
  if (!report.agent.is_null()) summary.set("agent", report.agent);
  return summary;
}

RunState state_after(const Status& done) {
  if (!done.ok()) return done.error().code == Code::interrupted ? RunState::kInterrupted : RunState::kFailed;
  return interrupted() ? RunState::kInterrupted : RunState::kFinished;
}

// The run's last word in the store. Where the run failed, that error is the one to tell.
Status close_run(Session& state, const Status& done) {
  const RunState how = state_after(done);
  if (done.ok()) return state.store->finish_run(state.report.run, how, state.report.outcome, state.report.reason, summary_of(state));
  const Status kept = state.store->finish_run(state.report.run, how, RunOutcome::kNone, done.error().message, Json());
  if (!kept.ok()) log_warning("the store does not know how this run ended", Json::object().set("why", kept.error().message));
  std::error_code ignored;  // the error to tell is another
  fs::remove_all(state.fresh, ignored);
  return done.error();
}

}  // namespace

std::string whole_path(const fs::path& path) {
  std::error_code error;
  const fs::path whole = fs::absolute(path, error);
  return path.empty() || error ? path.string() : whole.lexically_normal().string();
}

Engine::Engine() : parts_(std::make_unique<Parts>()) {}
Engine::~Engine() = default;

void Engine::release_problem() {
  parts_->prepared.reset();
  if (parts_->judge) parts_->judge->imports().close_all();
  if (parts_->oracle && !parts_->oracle->release().ok()) parts_->oracle.reset();
}

Result<OptimizeOutcome> optimize(const OptimizeOptions& options, Progress& progress) {
  Engine engine;
  return optimize(options, progress, engine);
}

Result<OptimizeOutcome> optimize(const OptimizeOptions& options, Progress& progress, Engine& engine) {
  Session state(options, progress, engine);
  if (state.oracle) state.spent_before = state.oracle->spent();
  SOLSTICE_CHECK(open_store(state));
  choose_folder(state);
  SOLSTICE_TRY(const OutcomeLock lock, OutcomeLock::take(state.out));
  SOLSTICE_TRY(state.fresh, begin_outcome(state.out));
  begin_report(state);
  if (Status begun = begin_run(state); !begun.ok()) {
    std::error_code ignored;  // the error to tell is another
    fs::remove_all(state.fresh, ignored);
    return begun.error();
  }

  Status done = run_stages(state);
  if (done.ok()) measure_memory(state);
  distrust_graph(state, done);
  if (!done.ok() && is_outcome(done.error())) {
    state.report.outcome = RunOutcome::kUnsupported;
    state.report.reason = done.error().message;
    done = success();
  }
  if (state.agent) state.report.agent = state.agent->record();
  conclude_search(state);
  if (done.ok()) done = worth_keeping(state);
  const bool replaces = done.ok();
  if (replaces) done = write_outcome(state);
  release_engine(engine, state, done);
  if (const Status closed = close_run(state, done); !closed.ok()) {
    return replaces ? closed.error() : that_left(closed.error(), state.out);
  }
  return OptimizeOutcome{std::move(state.report), state.out, interrupted()};
}

}  // namespace solstice::flow
