// Life of a run: begin, resume and end. Each call reads and writes within one transaction, so whoever comes second sees
// what the first has done.
#include <unistd.h>

#include <chrono>
#include <random>
#include <thread>

#include "base/clock.h"
#include "store/process.h"
#include "store/rows.h"
#include "store/store.h"

namespace solstice::store {
namespace {

// Sorts by time: "20260131-123456-k3f9".
std::string new_id(const std::string& utc) {
  std::string id;
  for (const char c : utc.substr(0, 19)) {
    if (c == 'T') id += '-';
    if (c >= '0' && c <= '9') id += c;
  }
  std::random_device random;
  id += '-';
  for (int i = 0; i < 4; ++i) id += "0123456789abcdefghijklmnopqrstuvwxyz"[random() % 36];
  return id;
}

// The record stays as it is: it may be of use to whoever repairs it.
Status close_damaged(Database& database, const std::string& id) {
  SOLSTICE_TRY(Statement update, database.prepare("UPDATE runs SET state = ? WHERE id = ?"));
  return update.bind(enum_name(RunState::kInterrupted)).bind(id).run();
}

// The record of a continued run as it was before, and if the run got events since.
struct Before {
  RunRecord run;
  bool touched = false;
};

Result<std::optional<Before>> read_before(Database& database, const std::string& id) {
  SOLSTICE_TRY(
      Statement query,
      database.prepare("SELECT before, events_before != (SELECT count(*) FROM events WHERE run = ?1) FROM runs "
                       "WHERE id = ?1 AND before != ''"));
  query.bind(id);
  SOLSTICE_TRY(const bool row, query.step());
  if (!row) return std::optional<Before>();
  SOLSTICE_TRY(RunRecord run,
               read_record<RunRecord>(database, fmt::format("run {} before it went on", id), query.text(0)));
  return std::optional(Before{std::move(run), query.integer(1) != 0});
}

// Its record as it is now is `before` from here on, and this process has it.
Status mark_resumed(Database& database, RunRecord run) {
  run.state = RunState::kRunning;
  run.outcome = RunOutcome::kNone;
  run.reason.clear();
  run.finished.clear();
  SOLSTICE_TRY(
      Statement update,
      database.prepare("UPDATE runs SET before = record, events_before = (SELECT count(*) FROM events WHERE run = ?1), "
                       "pid = ?2, process_start = ?3, finished = '', state = ?4, record = ?5 WHERE id = ?1"));
  update.bind(run.id).bind(static_cast<int64_t>(::getpid())).bind(process_start(::getpid()));
  return update.bind(enum_name(run.state)).bind(to_json(run).dump()).run();
}

// At its end.
Status close_record(Database& database, const RunRecord& run) {
  SOLSTICE_TRY(Statement update,
               database.prepare("UPDATE runs SET finished = ?, state = ?, record = ?, before = '' WHERE id = ?"));
  return update.bind(run.finished).bind(enum_name(run.state)).bind(to_json(run).dump()).bind(run.id).run();
}

void merge(const Json& more, Json& summary) {
  for (const auto& [name, value] : more.members()) summary.set(name, value);
}

Status finish(Database& database, const std::string& id, RunState state, RunOutcome outcome, std::string_view reason,
              const Json& summary) {
  SOLSTICE_TRY(RunRecord run, read_run(database, id));
  run.state = state;
  run.outcome = outcome;
  run.reason = reason;
  merge(summary, run.summary);
  run.finished = utc_now();
  return close_record(database, run);
}

// Of a run that ends with an error.
RunOutcome outcome_at(RunState state) {
  return state == RunState::kInterrupted ? RunOutcome::kInterrupted : RunOutcome::kNone;
}

Status stop(Database& database, const std::string& id, RunState state, std::string_view reason, const Json& summary) {
  SOLSTICE_TRY(std::optional<Before> before, read_before(database, id));
  if (!before || before->touched)
    return finish(database, id, state, before ? before->run.outcome : outcome_at(state), reason, summary);
  merge(summary, before->run.summary);
  return close_record(database, before->run);
}

// Runs marked running whose process is gone.
Result<std::vector<std::string>> abandoned(Database& database) {
  SOLSTICE_TRY(Statement query, database.prepare("SELECT id, pid, process_start FROM runs WHERE state = 'running'"));
  std::vector<std::string> gone;
  for (;;) {
    SOLSTICE_TRY(const bool row, query.step());
    if (!row) return gone;
    if (process_start(static_cast<int>(query.integer(1))) != query.text(2)) gone.push_back(query.text(0));
  }
}

Result<int> close_gone(Database& database) {
  SOLSTICE_TRY(const std::vector<std::string> gone, abandoned(database));
  for (const std::string& id : gone) {
    const bool readable = read_run(database, id).ok();
    SOLSTICE_CHECK(readable ? stop(database, id, RunState::kInterrupted, "its process ended without a report", Json())
                            : close_damaged(database, id));
  }
  return static_cast<int>(gone.size());
}

// The run as it was; nothing if another process owns it.
Result<std::optional<LoadedRun>> claim(Database& database, const std::string& id) {
  SOLSTICE_TRY(Transaction all, Transaction::write(database));
  SOLSTICE_CHECK(close_gone(database));
  SOLSTICE_TRY(LoadedRun run, load_whole(database, id));
  if (run.run.state == RunState::kRunning) return std::optional<LoadedRun>();
  SOLSTICE_CHECK(mark_resumed(database, run.run));
  SOLSTICE_CHECK(all.commit());
  return std::optional(std::move(run));
}

template <typename Change>
Status change_run(Database& database, const std::string& id, Change change) {
  SOLSTICE_TRY(Transaction all, Transaction::write(database));
  SOLSTICE_TRY(RunRecord run, read_run(database, id));
  change(run);
  SOLSTICE_CHECK(update_run(database, run));
  return all.commit();
}

}  // namespace

Result<std::string> Store::begin_run(RunRecord run) {
  if (run.started.empty()) run.started = utc_now();
  if (run.id.empty()) run.id = new_id(run.started);
  SOLSTICE_TRY(Transaction all, Transaction::write(state_->database));
  SOLSTICE_CHECK(insert_run(state_->database, run));
  SOLSTICE_CHECK(all.commit());
  return run.id;
}

Status Store::describe_run(const std::string& id, const std::string& machine, const std::string& device,
                           const std::map<std::string, std::string>& versions, const Json& summary) {
  return change_run(state_->database, id, [&](RunRecord& run) {
    run.machine = machine;
    run.device = device;
    run.versions = versions;
    merge(summary, run.summary);
  });
}

Status Store::identify_run(const std::string& id, const std::string& problem_key) {
  Database& database = state_->database;
  SOLSTICE_TRY(Transaction all, Transaction::write(database));
  SOLSTICE_TRY(RunRecord run, read_run(database, id));
  run.problem_key = problem_key;
  SOLSTICE_CHECK(insert_problem(database, run));
  SOLSTICE_TRY(Statement update, database.prepare("UPDATE runs SET problem_key = ? WHERE id = ?"));
  SOLSTICE_CHECK(update.bind(problem_key).bind(id).run());
  SOLSTICE_CHECK(update_run(database, run));
  return all.commit();
}

Status Store::keep_choices(const RunRecord& now) {
  return change_run(state_->database, now.id, [&](RunRecord& run) {
    run.options = now.options;
    run.policy = now.policy;
    run.seed = now.seed;
    run.folder = now.folder;
  });
}

Result<LoadedRun> Store::resume_run(const std::string& id, Seconds patience) {
  constexpr auto kPause = std::chrono::milliseconds(50);
  const Deadline deadline(patience);
  for (;;) {
    SOLSTICE_TRY(std::optional<LoadedRun> run, claim(state_->database, id));
    if (run) return *std::move(run);
    if (deadline.passed())
      return fail(Code::bad_argument, fmt::format("run {} is still active in another process", id),
                  "run the command again when it has ended");
    std::this_thread::sleep_for(kPause);
  }
}

// A run that goes on and gets no event is what it was before, which has it too.
Status Store::keep_summary(const std::string& id, const Json& summary) {
  Database& database = state_->database;
  SOLSTICE_TRY(Transaction all, Transaction::write(database));
  SOLSTICE_TRY(std::optional<Before> before, read_before(database, id));
  if (before) merge(summary, before->run.summary);
  SOLSTICE_TRY(RunRecord run, read_run(database, id));
  merge(summary, run.summary);
  SOLSTICE_TRY(Statement update, database.prepare("UPDATE runs SET record = ?, before = ? WHERE id = ?"));
  SOLSTICE_CHECK(update.bind(to_json(run).dump()).bind(before ? to_json(before->run).dump() : "").bind(id).run());
  return all.commit();
}

Status Store::finish_run(const std::string& id, RunState state, RunOutcome outcome, std::string_view reason,
                         const Json& summary) {
  SOLSTICE_TRY(Transaction all, Transaction::write(state_->database));
  SOLSTICE_CHECK(finish(state_->database, id, state, outcome, reason, summary));
  return all.commit();
}

Status Store::stop_run(const std::string& id, RunState state, std::string_view reason, const Json& summary) {
  SOLSTICE_TRY(Transaction all, Transaction::write(state_->database));
  SOLSTICE_CHECK(stop(state_->database, id, state, reason, summary));
  return all.commit();
}

Status Store::drop_run(const std::string& id) {
  Database& database = state_->database;
  SOLSTICE_TRY(Transaction all, Transaction::write(database));
  SOLSTICE_TRY(const RunRecord run, read_run(database, id));
  SOLSTICE_TRY(Statement remove,
               database.prepare("DELETE FROM runs WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM events WHERE run = ?1) "
                                "AND NOT EXISTS (SELECT 1 FROM trials WHERE run = ?1)"));
  SOLSTICE_CHECK(remove.bind(id).run());
  SOLSTICE_TRY(Statement tidy, database.prepare("DELETE FROM problems WHERE key = ?1 AND NOT EXISTS "
                                                "(SELECT 1 FROM runs WHERE problem_key = ?1)"));
  SOLSTICE_CHECK(tidy.bind(run.problem_key).run());
  return all.commit();
}

Result<int> Store::close_abandoned() {
  SOLSTICE_TRY(const std::vector<std::string> seen, abandoned(state_->database));
  if (seen.empty()) return 0;  // who only looks waits for no writer
  SOLSTICE_TRY(Transaction all, Transaction::write(state_->database));
  SOLSTICE_TRY(const int closed, close_gone(state_->database));
  SOLSTICE_CHECK(all.commit());
  return closed;
}

}  // namespace solstice::store
