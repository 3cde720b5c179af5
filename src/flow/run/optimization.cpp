#include "flow/run/optimization.h"

#include <fmt/format.h>

#include "base/file.h"
#include "base/log.h"
#include "base/process/interrupt.h"
#include "flow/run/account.h"
#include "flow/run/begin.h"
#include "flow/run/outcome/outcome.h"
#include "flow/run/partial.h"
#include "flow/run/problem/written.h"
#include "flow/run/report/report.h"
#include "flow/run/resolve.h"
#include "flow/run/resume.h"
#include "flow/run/stages/finals/build_best.h"
#include "flow/run/stages/finals/check_dropin.h"
#include "flow/run/stages/finals/conclusion.h"
#include "flow/run/stages/finals/described.h"
#include "flow/run/stages/finals/memory_peaks.h"
#include "flow/run/stages/finals/rivals.h"
#include "flow/run/stages/prepare/compiler.h"
#include "flow/run/stages/prepare/inputs.h"
#include "flow/run/stages/search/brief.h"
#include "flow/run/stages/search/search.h"
#include "flow/run/state/closing.h"
#include "flow/run/state/facts.h"
#include "ir/opaque.h"

namespace solstice::flow {
namespace fs = std::filesystem;

// Values of the stages so far. Later ones refer to earlier ones.
struct RunStages {
  std::optional<Opened> opened;
  std::optional<Imported> imported;
  std::optional<Problem> refused;  // traced, and no problem of ours as a whole
  std::optional<Bounds> bounds;
  std::optional<Planned> planned;
  std::unique_ptr<Measurable> measurable;
  std::unique_ptr<Searching> searching;
  Searched searched;
  Chosen chosen;

  bool gpu() const { return opened && opened->gpu; }
  Seconds original() const {
    if (measurable) return measurable->inputs.original.time;
    return imported ? imported->inputs.original.time : Seconds(0);
  }
};

namespace {

constexpr const char* kPyTorchCan = "PyTorch can run it: ";  // ir::kRunByPyTorch, and the oracle's way out of branches

// An outcome of another module keeps a folder that nobody named; in one that was named it is replaced, and that is
// said.
Status take_folder(Run& run, std::optional<OutcomeLock>& lock) {
  const RunOptions& options = run.options;
  const fs::path& given = options.out;
  const bool named = options.named_out;
  const fs::path wanted = given.empty() ? fs::path("runs") / name_of_problem(options) : given;
  const std::string subject = subject_text(options.module.file, options.module.class_name);
  const auto choose = [&] { return named || subject.empty() ? wanted : folder_for(wanted, subject); };
  fs::path& out = run.folders.out;
  // A run that ends while this one waits for its folder leaves an outcome there: the choice may be another then.
  do {
    lock.reset();
    out = choose();
    SOLSTICE_TRY(OutcomeLock taken, OutcomeLock::take(out));
    lock.emplace(std::move(taken));
  } while (choose() != out);
  const std::string found = subject_in(wanted);
  if (subject.empty() || found.empty() || found == subject) return success();
  run.progress.message(
      named ? fmt::format("{} holds the outcome of {}; a new one replaces it", wanted.string(), found)
            : fmt::format("{} holds the outcome of {}; this one goes to {}", wanted.string(), found, out.string()));
  return success();
}

// Everything before the first trial.
Status prepare(Run& run, RunStages& at) {
  SOLSTICE_CHECK(keep_transcript(run));
  SOLSTICE_TRY(at.opened, open_place(run));
  SOLSTICE_CHECK(check_place(run, *at.opened));
  SOLSTICE_TRY(at.imported, import_problem(run, &at.refused));
  SOLSTICE_CHECK(identify_object(run, at.imported->problem));
  SOLSTICE_TRY(at.bounds, compute_bounds(run, *at.opened, *at.imported));
  SOLSTICE_CHECK(open_compiler(run, *at.opened));
  SOLSTICE_CHECK(describe_run(run));
  SOLSTICE_TRY(at.planned, plan_kernels(run, *at.opened, *at.imported, *at.bounds));
  SOLSTICE_TRY(at.measurable, open_device(run, *at.opened, *at.imported, *at.bounds));
  const auto left = [&at] { return at.searching ? at.searching->left() : Seconds(1e9); };
  return brief_agent(run, *at.opened, *at.imported, *at.bounds, *at.planned, left);
}

Status run_last_stages(Run& run, RunStages& at) {
  if (run.options.search.only) return success();
  if (lacks_module(run)) return build_best(run, *at.opened, *at.imported);
  SOLSTICE_TRY(at.chosen, choose_winner(run, at.searched, *at.measurable, at.searching.get()));
  SOLSTICE_CHECK(check_dropin(run, *at.measurable, at.chosen));
  SOLSTICE_CHECK(time_rivals(run, *at.measurable, at.chosen));
  measure_memory(run, at.imported->problem);
  return success();
}

// Requests to the oracle lie within the stages.
void add_timings(Run& run) {
  run.report.timings["total"] = monotonic_now() - run.began;
  if (!run.engine.oracle) return;
  for (const auto& [request, seconds] : run.engine.oracle->spent()) {
    const auto before = run.spent_before.find(request);
    const Seconds spent = before == run.spent_before.end() ? seconds : seconds - before->second;
    if (spent.value > 0) run.report.timings["oracle: " + request] = spent;
  }
}

template <typename T>
const T* address_of(const std::optional<T>& value) {
  return value ? &*value : nullptr;
}

Status write_outcome(Run& run, const RunStages& at) {
  const fs::path& fresh = run.folders.fresh;
  add_timings(run);
  SOLSTICE_CHECK(describe_search(run, {address_of(at.opened), address_of(at.imported), address_of(at.bounds),
                                       address_of(at.planned), at.measurable.get(), &at.chosen}));
  if (at.imported) SOLSTICE_CHECK(write_file(fresh / "problem.ucut", at.imported->problem.imported.text));
  if (!run.report.program.empty()) SOLSTICE_CHECK(write_file(fresh / "program.ucut", run.report.program));
  SOLSTICE_CHECK(write_report(run.report, fresh));
  return commit_outcome(fresh, run.folders.out);
}

// Processes that failed are not used again: the next run starts others.
void drop_broken(EngineParts& parts) {
  if (parts.judge) parts.judge->imports().close_all_of(&parts);
  parts.judge.reset();
  parts.further.clear();
  parts.oracle.reset();
}

void keep_for_next(Run& run, RunStages& at) {
  if (!at.imported) return;
  keep_prepared(run, *at.imported, at.measurable ? at.measurable->inputs : at.imported->inputs);
}

// Frees the problem's memory on the GPU.
void release_engine(Engine& engine, Run& run, RunStages& at, const Status& done) {
  EngineParts& parts = run.engine;
  close_fleet(run, at.measurable.get());
  if (parts.judge) parts.judge->release();
  // A part that does not fit in memory leaves the processes whole, and the module's other parts to them.
  const bool small_enough = !run.options.module.part || done.ok() || done.error().code != Code::too_large;
  if (!done.ok() && small_enough && !is_of_the_user(done.error())) drop_broken(parts);
  if (!run.options.module.part && parts.oracle && !parts.oracle->sound()) {  // the outcome did not need it any more
    if (parts.judge) parts.judge->imports().close_all_of(&parts);
    parts.oracle.reset();
  }
  if (parts.oracle) parts.oracle->stop_when(nullptr);  // it asks this run
  if (run.options.keep && done.ok() && parts.oracle) keep_for_next(run, at);
  if (run.options.module.part) {
    if (parts.judge) parts.judge->imports().close_all_of(&parts);
  } else if (!run.options.keep) {
    engine.release_problem();
  }
}

RunState state_after(const Status& done) {
  if (!done.ok()) return done.error().code == Code::interrupted ? RunState::kInterrupted : RunState::kFailed;
  return interrupted() ? RunState::kInterrupted : RunState::kFinished;
}

// It was new, and a mistake ended it before its search.
bool leaves_nothing(const Run& run, const Status& done) {
  const bool is_new = !run.stored.resumed && !run.options.search.in_turns;  // who gives turns knows it already
  return is_new && !done.ok() && is_mistake(done.error()) && run.tree.trials() == 0;
}

// The run's last entry in the store.
Status close_run(Run& run, const RunStages& at, const Status& done) {
  const RunState how = state_after(done);
  const Report& report = run.report;
  store::Store& store = *run.stored.store;
  if (done.ok()) {
    const bool searched = at.searching || run.tree.trials() > 0;
    const std::optional<search::Stop> stop = searched ? std::optional(at.searched.stop) : std::nullopt;
    return store.finish_run(report.run, how, report.outcome, report.reason, summary_of(report, at.original(), stop));
  }
  std::error_code ignored;  // the error to tell is another
  fs::remove_all(run.folders.fresh, ignored);
  if (leaves_nothing(run, done)) return told_after(done, store.drop_run(report.run));
  return told_after(done, store.stop_run(report.run, how, done.error().message, account_of(report)));
}

// Leaves the facts of its measurements to searches of other problems; the outcome stands without.
void leave_facts(Run& run, const RunStages& at) {
  if (!at.gpu()) return;
  const Result<int> added = keep_facts(*run.stored.store, run.report.run, run.tree, at.opened->machine);
  if (!added.ok())
    log_warning("the store does not keep this run's facts", Json::object().set("why", added.error().text()));
}

}  // namespace

struct Optimization::Parts {
  Parts(ResolvedRun resolved, Progress& progress, Engine& e)
      : engine(e), run(std::move(resolved.options), std::move(resolved.stored), progress, e.parts()) {}

  Engine& engine;
  Run run;
  RunStages at;
  std::optional<OutcomeLock> lock;
  Status done = success();  // of all so far
  bool concluded = false;
};

Optimization::Optimization(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

Result<std::unique_ptr<Optimization>> Optimization::open(OptimizeOptions options, Progress& progress, Engine& engine) {
  SOLSTICE_TRY(ResolvedRun resolved, resolve_run(std::move(options)));
  auto parts = std::make_unique<Parts>(std::move(resolved), progress, engine);
  Run& run = parts->run;
  SOLSTICE_CHECK(open_leaders(run));
  SOLSTICE_CHECK(take_folder(run, parts->lock));
  SOLSTICE_TRY(run.folders.fresh, begin_outcome(run.folders.out));
  begin_report(run);
  if (Status begun = begin_run(run); !begun.ok()) {
    std::error_code ignored;  // the error to tell is another
    fs::remove_all(run.folders.fresh, ignored);
    return begun.error();
  }
  parts->done = prepare(run, parts->at);
  if (parts->done.ok() && run.options.search.in_turns) {
    Result<std::unique_ptr<Searching>> begun = begin_search(run, *parts->at.planned, *parts->at.measurable);
    if (begun.ok()) parts->at.searching = std::move(*begun);
    if (!begun.ok()) parts->done = begun.error();
  }
  return std::unique_ptr<Optimization>(new Optimization(std::move(parts)));
}

Optimization::~Optimization() {
  if (parts_->concluded) return;
  Run& run = parts_->run;
  const Status stopped =
      parts_->done.ok() ? Status(fail(Code::interrupted, "stopped; its trials are kept")) : parts_->done;
  if (run.engine.judge) run.engine.judge->serve(&run.engine);
  account_for_agent(run);
  release_engine(parts_->engine, run, parts_->at, stopped);
  (void)close_run(run, parts_->at, stopped);  // the store has warned of what it did not take
}

bool Optimization::ready() const { return parts_->done.ok(); }
const std::string& Optimization::run() const { return parts_->run.report.run; }
const search::Tree& Optimization::tree() const { return parts_->run.tree; }
Seconds Optimization::original() const { return parts_->at.original(); }
Seconds Optimization::bound() const { return parts_->at.bounds ? parts_->at.bounds->practical() : Seconds(0); }

std::optional<search::Stop> Optimization::step() {
  Run& run = parts_->run;
  if (!parts_->done.ok()) return search::Stop::kInterrupted;
  if (run.engine.judge) run.engine.judge->serve(&run.engine);
  const Result<std::optional<search::Stop>> stop = parts_->at.searching->step();
  if (evaluate::Fleet* const fleet = parts_->at.measurable->fleet) fleet->rest();  // the GPUs are the others' now
  if (stop.ok()) return *stop;
  parts_->done = stop.error();
  return search::Stop::kInterrupted;
}

void Optimization::search() {
  if (!parts_->done.ok()) return;
  RunStages& at = parts_->at;
  Result<Searched> done = search_candidates(parts_->run, *at.planned, *at.measurable, at.searching);
  if (done.ok()) {
    at.searched = std::move(*done);
    return;
  }
  if (at.searching) at.searched = at.searching->so_far();
  parts_->done = done.error();
}

Result<OptimizeOutcome> Optimization::conclude() {
  parts_->concluded = true;
  Run& run = parts_->run;
  if (run.engine.judge) run.engine.judge->serve(&run.engine);
  if (parts_->done.ok()) parts_->done = run_last_stages(run, parts_->at);
  return finish();
}

// Of a module that is no problem of ours as a whole. kDone: the report has an outcome of its parts, or `done` the error
// that ended them.
Parted Optimization::try_parts() {
  Run& run = parts_->run;
  RunStages& at = parts_->at;
  Status& done = parts_->done;
  const Problem* whole = at.imported ? &at.imported->problem : address_of(at.refused);
  if (!whole || !may_be_cut(run, done)) return Parted::kNone;
  std::string why_not;
  const auto optimize_part = [&](const OptimizeOptions& options, Progress& progress) -> Result<OptimizeOutcome> {
    SOLSTICE_TRY(const std::unique_ptr<Optimization> part, open(options, progress, parts_->engine));
    part->search();
    return part->conclude();
  };
  Result<Parted> parted = optimize_parts(run, optimize_part, *at.opened, *whole, why_not);
  if (parted.ok() && *parted == Parted::kLater) return Parted::kLater;
  if (parted.ok() && *parted == Parted::kNone) {
    const std::string more = why_not.empty() ? "nothing else of it is worth kernels" : why_not;
    Error refusal = fail(done.error().code, done.error().message + "; " + more, done.error().hint);
    if (const size_t start = refusal.hint.find(kPyTorchCan); start != std::string::npos)
      refusal.hint.replace(start, std::string::npos, "the module stays in PyTorch as it is");
    done = std::move(refusal);
    return Parted::kNone;
  }
  done = parted.ok() ? success() : Status(std::move(parted).error());
  return Parted::kDone;
}

Result<OptimizeOutcome> Optimization::finish() {
  Run& run = parts_->run;
  RunStages& at = parts_->at;
  Status& done = parts_->done;
  std::vector<std::string> why;
  const Problem* const problem = at.imported ? &at.imported->problem : address_of(at.refused);
  std::string mode_note = problem ? problem->subject.mode_note : "";
  const bool training = problem && problem->subject.training;
  if (at.imported && at.gpu()) distrust_graph(run, at.imported->problem, at.chosen.finalists, done);
  const Parted parted = try_parts();
  const fs::path& file = run.options.module.file;
  if (!done.ok() && is_program(file)) done = in_program(done.error(), run.stored.source, file.string());
  if (!done.ok() && is_outcome(done.error())) {
    run.report.outcome = RunOutcome::kUnsupported;
    const Error& error = done.error();
    const fs::path blamed = error.file.empty() ? file : fs::path(error.file);
    const std::string place = error.line > 0 ? fmt::format("{}:{}: ", blamed.filename().string(), error.line) : "";
    run.report.reason = place + error.sentence();
    why = done.error().reasons;
    done = success();
  }
  account_for_agent(run);
  if (parted != Parted::kDone) {
    conclude_search(run, at.searched.stop, at.gpu());
    if (done.ok()) done = worth_keeping(run.tree);
  }
  const bool replaces = done.ok();
  if (replaces) done = write_outcome(run, at);
  release_engine(parts_->engine, run, at, done);
  leave_facts(run, at);
  if (const Status closed = close_run(run, at, done); !closed.ok()) {
    if (leaves_nothing(run, done) && parts_->lock) parts_->lock->leave_no_trace();
    return replaces ? closed.error() : that_left(closed.error(), run.folders.out);
  }
  const Searched& searched = at.searched;
  return OptimizeOutcome{std::move(run.report),
                         run.folders.out,
                         searched.agent_failed ? searched.agent_failed : searched.policy_failed,
                         std::move(why),
                         parted == Parted::kLater,
                         std::move(mode_note),
                         training,
                         interrupted()};
}

}  // namespace solstice::flow
