#include "flow/run/optimization.h"

#include <fmt/format.h>

#include "base/file.h"
#include "base/process/interrupt.h"
#include "base/time_text.h"
#include "flow/run/state/closing.h"
#include "flow/run/stages/conclusion.h"
#include "flow/run/state/facts.h"
#include "flow/run/opening.h"
#include "flow/run/outcome/outcome.h"
#include "flow/run/stages/described.h"
#include "flow/run/report/report.h"
#include "flow/run/resume.h"
#include "flow/run/state/resume_options.h"
#include "flow/run/state/run.h"

namespace solstice::flow {
namespace fs = std::filesystem;
namespace {

// An outcome of another module keeps a folder that nobody named; in one that was named it is replaced, and that is
// said.
void choose_folder(Session& state) {
  const fs::path& given = state.options.out;
  const bool named =
      !given.empty() && !(state.resumed && state.options.left_out.contains("--out"));  // else it is the run's
  const fs::path wanted = given.empty() ? fs::path("runs") / name_of_problem(state.options) : given;
  const std::string subject = subject_text(state.options.file, state.options.class_name), found = subject_in(wanted);
  state.out = named || subject.empty() ? wanted : folder_for(wanted, subject);
  if (subject.empty() || found.empty() || found == subject) return;
  state.progress.message(
      named
          ? fmt::format("{} holds the outcome of {}; a new one replaces it", wanted.string(), found)
          : fmt::format("{} holds the outcome of {}; this one goes to {}", wanted.string(), found, state.out.string()));
}

Status prepare(Session& state) {
  SOLSTICE_CHECK(keep_transcript(state));
  SOLSTICE_CHECK(start_oracle(state));
  SOLSTICE_CHECK(check_place(state));
  SOLSTICE_CHECK(import_problem(state));
  SOLSTICE_CHECK(identify_object(state));
  SOLSTICE_CHECK(compute_bounds(state));
  SOLSTICE_CHECK(open_compiler(state));
  SOLSTICE_CHECK(describe_run(state));
  SOLSTICE_CHECK(plan_kernels(state));
  SOLSTICE_CHECK(open_device(state));
  return state.agent ? state.agent->brief(state) : success();
}

Status run_last_stages(Session& state) {
  if (state.options.search_only) return success();
  SOLSTICE_CHECK(choose_winner(state));
  SOLSTICE_CHECK(check_dropin(state));
  SOLSTICE_CHECK(time_rivals(state));
  measure_memory(state);
  return success();
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

// Frees what this problem held on the GPU. An oracle or judge that failed is not used again: the next run starts
// another.
void release_engine(Engine& engine, Session& state, const Status& done) {
  close_fleet(state);
  const bool broken = !done.ok() && !is_of_the_user(done.error());
  if (state.judge) state.judge->release();
  if (broken) {
    if (state.judge) state.judge->imports().close_all_of(&state.engine);
    state.judge.reset();
    state.engine.further.clear();
    state.oracle.reset();
  }
  if (state.oracle) state.oracle->stop_when(nullptr);  // it asks this session
  if (state.options.keep && done.ok()) keep_prepared(state);
  if (!state.options.keep) engine.release_problem();
}

RunState state_after(const Status& done) {
  if (!done.ok()) return done.error().code == Code::interrupted ? RunState::kInterrupted : RunState::kFailed;
  return interrupted() ? RunState::kInterrupted : RunState::kFinished;
}

// The run's last word in the store.
Status close_run(Session& state, const Status& done) {
  const RunState how = state_after(done);
  if (done.ok())
    return state.store->finish_run(state.report.run, how, state.report.outcome, state.report.reason, summary_of(state));
  std::error_code ignored;  // the error to tell is another
  fs::remove_all(state.fresh, ignored);
  return told_after(done, state.store->stop_run(state.report.run, how, done.error().message, account_of(state)));
}

}  // namespace

struct Optimization::Parts {
  Parts(OptimizeOptions o, Progress& progress, Engine& e)
      : options(std::move(o)), engine(e), state(options, progress, e) {}

  const OptimizeOptions options;
  Engine& engine;
  Session state;
  std::optional<OutcomeLock> lock;
  Status done = success();  // of all so far
  bool concluded = false;
};

Optimization::Optimization(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

Result<std::unique_ptr<Optimization>> Optimization::open(OptimizeOptions options, Progress& progress, Engine& engine) {
  if (!options.resume.empty()) {
    SOLSTICE_TRY(options, as_begun(std::move(options)));
  }
  auto parts = std::make_unique<Parts>(std::move(options), progress, engine);
  Session& state = parts->state;
  if (state.oracle) state.spent_before = state.oracle->spent();
  SOLSTICE_CHECK(open_store(state));
  SOLSTICE_CHECK(choose_run(state));
  choose_folder(state);
  SOLSTICE_TRY(OutcomeLock lock, OutcomeLock::take(state.out));
  parts->lock.emplace(std::move(lock));
  SOLSTICE_TRY(state.fresh, begin_outcome(state.out));
  begin_report(state);
  if (Status begun = begin_run(state); !begun.ok()) {
    std::error_code ignored;  // the error to tell is another
    fs::remove_all(state.fresh, ignored);
    return begun.error();
  }
  parts->done = prepare(state);
  if (parts->done.ok() && parts->options.in_turns) parts->done = begin_search(state);
  return std::unique_ptr<Optimization>(new Optimization(std::move(parts)));
}

Optimization::~Optimization() {
  if (parts_->concluded) return;
  const Status stopped =
      parts_->done.ok() ? Status(fail(Code::interrupted, "stopped; its trials are kept")) : parts_->done;
  if (parts_->state.judge) parts_->state.judge->serve(&parts_->state.engine);
  account_for_agent(parts_->state);
  release_engine(parts_->engine, parts_->state, stopped);
  (void)close_run(parts_->state, stopped);  // what the store did not take it has warned of
}

bool Optimization::ready() const { return parts_->done.ok(); }
const std::string& Optimization::run() const { return parts_->state.report.run; }
const search::Tree& Optimization::tree() const { return parts_->state.tree; }
Seconds Optimization::original() const { return parts_->state.eager; }
Seconds Optimization::bound() const { return parts_->state.bound_practical; }

std::optional<search::Stop> Optimization::step() {
  Session& state = parts_->state;
  if (!parts_->done.ok()) return search::Stop::kInterrupted;
  if (state.judge) state.judge->serve(&state.engine);
  const Result<std::optional<search::Stop>> stop = step_search(state);
  if (state.fleet) state.fleet->rest();  // the GPUs are the others' now
  if (stop.ok()) return *stop;
  parts_->done = stop.error();
  return search::Stop::kInterrupted;
}

void Optimization::search() {
  if (parts_->done.ok()) parts_->done = search_candidates(parts_->state);
}

Result<OptimizeOutcome> Optimization::conclude() {
  parts_->concluded = true;
  Session& state = parts_->state;
  if (state.judge) state.judge->serve(&state.engine);
  if (parts_->done.ok()) parts_->done = run_last_stages(state);
  return finish();
}

Result<OptimizeOutcome> Optimization::finish() {
  Session& state = parts_->state;
  Status& done = parts_->done;
  distrust_graph(state, done);
  if (!done.ok() && is_outcome(done.error())) {
    state.report.outcome = RunOutcome::kUnsupported;
    state.report.reason = done.error().message;
    done = success();
  }
  account_for_agent(state);
  conclude_search(state);
  if (done.ok()) done = worth_keeping(state);
  const bool replaces = done.ok();
  if (replaces) done = write_outcome(state);
  release_engine(parts_->engine, state, done);
  remember(state);
  if (const Status closed = close_run(state, done); !closed.ok()) {
    return replaces ? closed.error() : that_left(closed.error(), state.out);
  }
  return OptimizeOutcome{std::move(state.report), state.out,
                         state.agent_failed ? state.agent_failed : state.policy_failed, interrupted()};
}

}  // namespace solstice::flow
