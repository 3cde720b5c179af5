#include "store/store.h"

#include <fmt/format.h>
#include <unistd.h>

#include <limits>
#include <random>

#include "base/clock.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/paths.h"
#include "store/exported.h"
#include "store/process.h"
#include "store/schema.h"
#include "store/sqlite.h"

namespace solstice::store {
namespace fs = std::filesystem;

struct Store::State {
  fs::path folder;
  Database database;
};

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

// `what` names it: "run ID".
template <typename T>
Result<T> read_record(const Database& database, const std::string& what, const std::string& text) {
  const Result<Json> json = parse_json(text);
  Result<T> record = json.ok() ? from_json<T>(*json) : Result<T>(json.error());
  if (record.ok()) return record;
  return fail(Code::store_error, fmt::format("the record of {} in {} is damaged: {}", what, database.file(), record.error().message));
}

std::string state_name(RunState state) { return enum_names(state)[static_cast<size_t>(state)]; }

Status insert_problem(Database& database, const RunRecord& run) {
  SOLSTICE_TRY(Statement insert, database.prepare("INSERT OR IGNORE INTO problems(key, name) VALUES (?, ?)"));
  return insert.bind(run.problem_key).bind(run.problem).run();
}

Status insert_run(Database& database, const RunRecord& run) {
  SOLSTICE_CHECK(insert_problem(database, run));
  SOLSTICE_TRY(Statement insert, database.prepare("INSERT INTO runs(id, problem_key, options_key, started, finished, state, pid, "
                                                  "process_start, record) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"));
  insert.bind(run.id).bind(run.problem_key).bind(run.options_key).bind(run.started).bind(run.finished);
  insert.bind(state_name(run.state)).bind(static_cast<int64_t>(::getpid())).bind(process_start(::getpid()));
  return insert.bind(to_json(run).dump()).run();
}

Status update_run(Database& database, const RunRecord& run) {
  SOLSTICE_TRY(Statement update, database.prepare("UPDATE runs SET finished = ?, state = ?, record = ? WHERE id = ?"));
  return update.bind(run.finished).bind(state_name(run.state)).bind(to_json(run).dump()).bind(run.id).run();
}

// The record stays as it is: it may be of use to whoever repairs it.
Status close_damaged(Database& database, const std::string& id) {
  SOLSTICE_TRY(Statement update, database.prepare("UPDATE runs SET state = ? WHERE id = ?"));
  return update.bind(state_name(RunState::kInterrupted)).bind(id).run();
}

Result<RunRecord> read_run(Database& database, const std::string& id) {
  SOLSTICE_TRY(Statement query, database.prepare("SELECT record FROM runs WHERE id = ?"));
  query.bind(id);
  SOLSTICE_TRY(const bool row, query.step());
  if (!row) return fail(Code::not_found, fmt::format("no run `{}` in the store", id));
  return read_record<RunRecord>(database, "run " + id, query.text(0));
}

// Of a run that goes on: its record as it was before, and whether it got events since.
struct Before {
  RunRecord run;
  bool touched = false;
};

Result<std::optional<Before>> read_before(Database& database, const std::string& id) {
  SOLSTICE_TRY(Statement query, database.prepare("SELECT before, events_before != (SELECT count(*) FROM events WHERE run = ?1) FROM runs "
                                                 "WHERE id = ?1 AND before != ''"));
  query.bind(id);
  SOLSTICE_TRY(const bool row, query.step());
  if (!row) return std::optional<Before>();
  SOLSTICE_TRY(RunRecord run, read_record<RunRecord>(database, fmt::format("run {} before it went on", id), query.text(0)));
  return std::optional(Before{std::move(run), query.integer(1) != 0});
}

// Its record as it is now, which is `before` from here on, and the process that has it.
Status mark_resumed(Database& database, const std::string& id) {
  SOLSTICE_TRY(Statement update, database.prepare("UPDATE runs SET before = record, events_before = (SELECT count(*) FROM events WHERE "
                                                  "run = ?1), pid = ?2, process_start = ?3 WHERE id = ?1"));
  return update.bind(id).bind(static_cast<int64_t>(::getpid())).bind(process_start(::getpid())).run();
}

// At its end.
Status close_record(Database& database, const RunRecord& run) {
  SOLSTICE_TRY(Statement update, database.prepare("UPDATE runs SET finished = ?, state = ?, record = ?, before = '' WHERE id = ?"));
  return update.bind(run.finished).bind(state_name(run.state)).bind(to_json(run).dump()).bind(run.id).run();
}

void merge(const Json& more, Json& summary) {
  for (const auto& [name, value] : more.members()) summary.set(name, value);
}

Result<std::vector<TrialRecord>> read_trials(Database& database, const std::string& run) {
  SOLSTICE_TRY(Statement query, database.prepare("SELECT record, number FROM trials WHERE run = ? ORDER BY number"));
  query.bind(run);
  std::vector<TrialRecord> trials;
  for (;;) {
    SOLSTICE_TRY(const bool row, query.step());
    if (!row) return trials;
    const std::string what = fmt::format("trial {} of run {}", query.integer(1), run);
    SOLSTICE_TRY(TrialRecord trial, read_record<TrialRecord>(database, what, query.text(0)));
    trials.push_back(std::move(trial));
  }
}

Result<std::string> keep_text(Database& database, const std::string& text) {
  const std::string key = hash_hex(text);
  SOLSTICE_TRY(Statement insert, database.prepare("INSERT OR IGNORE INTO texts(key, text) VALUES (?, ?)"));
  SOLSTICE_CHECK(insert.bind(key).bind(text).run());
  return key;
}

Status insert_event(Database& database, const std::string& run, size_t number, search::Event event, const std::string& at) {
  std::string key;
  if (event.proposal) {
    SOLSTICE_TRY(key, keep_text(database, event.proposal->program));
    event.proposal->program.clear();
  }
  SOLSTICE_TRY(Statement insert,
               database.prepare("INSERT INTO events(run, number, at, kind, node, program, record) VALUES (?, ?, ?, ?, ?, ?, ?)"));
  insert.bind(run).bind(static_cast<int64_t>(number)).bind(at);
  insert.bind(enum_names(event.kind)[static_cast<size_t>(event.kind)]).bind(static_cast<int64_t>(event.node)).bind(key);
  return insert.bind(to_json(event).dump()).run();
}

Result<std::vector<StoredEvent>> read_events(Database& database, const std::string& run) {
  SOLSTICE_TRY(
      Statement query,
      database.prepare("SELECT events.record, events.number, events.at, texts.text FROM events LEFT JOIN texts ON events.program = "
                       "texts.key WHERE run = ? ORDER BY number"));
  query.bind(run);
  std::vector<StoredEvent> out;
  for (;;) {
    SOLSTICE_TRY(const bool row, query.step());
    if (!row) return out;
    const std::string what = fmt::format("event {} of run {}", query.integer(1), run);
    if (query.integer(1) != static_cast<int64_t>(out.size()))
      return fail(Code::store_error, fmt::format("{} in {} has lost one before it", what, database.file()));
    SOLSTICE_TRY(search::Event event, read_record<search::Event>(database, what, query.text(0)));
    if (event.proposal) event.proposal->program = query.text(3);
    out.push_back({std::move(event), query.text(2)});
  }
}

Result<LoadedRun> load_whole(Database& database, const std::string& id) {
  LoadedRun out;
  SOLSTICE_TRY(out.run, read_run(database, id));
  SOLSTICE_TRY(out.trials, read_trials(database, id));
  SOLSTICE_TRY(out.events, read_events(database, id));
  return out;
}

Result<bool> has_run(Database& database, const std::string& id) {
  SOLSTICE_TRY(Statement query, database.prepare("SELECT 1 FROM runs WHERE id = ?"));
  query.bind(id);
  return query.step();
}

Status insert_trial(Database& database, const TrialRecord& trial) {
  SOLSTICE_TRY(Statement insert, database.prepare("INSERT OR REPLACE INTO trials(run, number, state, record) VALUES (?, ?, ?, ?)"));
  insert.bind(trial.run).bind(static_cast<int64_t>(trial.number));
  insert.bind(enum_names(trial.state)[static_cast<size_t>(trial.state)]);
  return insert.bind(to_json(trial).dump()).run();
}

// Within a transaction; false where the very same is there.
Result<bool> add_whole(Database& database, const LoadedRun& run) {
  const std::string& id = run.run.id;
  SOLSTICE_TRY(const bool known, has_run(database, id));
  if (known) {
    SOLSTICE_TRY(const LoadedRun here, load_whole(database, id));
    if (to_json(exported(here)).dump() == to_json(exported(run)).dump()) return false;
    return fail(Code::bad_argument, fmt::format("run {} is in {} already, with other content", id, database.file()));
  }
  SOLSTICE_CHECK(insert_run(database, run.run));
  for (const TrialRecord& trial : run.trials) SOLSTICE_CHECK(insert_trial(database, trial));
  for (size_t i = 0; i < run.events.size(); ++i) SOLSTICE_CHECK(insert_event(database, id, i, run.events[i].event, run.events[i].at));
  return true;
}

// Whether it is new.
Result<bool> insert_fact(Database& database, Fact fact) {
  SOLSTICE_TRY(const std::string form, keep_text(database, fact.structure.form));
  fact.structure.form.clear();
  SOLSTICE_TRY(Statement insert,
               database.prepare("INSERT OR IGNORE INTO facts(run, node, machine, form, record) VALUES (?, ?, ?, ?, ?) RETURNING number"));
  insert.bind(fact.run).bind(static_cast<int64_t>(fact.node)).bind(fact.machine).bind(form).bind(to_json(fact).dump());
  SOLSTICE_TRY(const bool fresh, insert.step());
  if (fresh) SOLSTICE_CHECK(insert.run());
  return fresh;
}

// Runs that failed before their search are passed over where there are others: nobody means a mistyped command.
constexpr const char* kLast =
    "SELECT id FROM runs ORDER BY state = 'failed' AND NOT EXISTS (SELECT 1 FROM events WHERE events.run = runs.id) AND "
    "NOT EXISTS (SELECT 1 FROM trials WHERE trials.run = runs.id), id DESC LIMIT 1";

// The one id that `prefix` means.
Result<std::string> resolve(Database& database, std::string_view prefix) {
  if (prefix.empty()) return fail(Code::bad_argument, "no run is named: it takes an id, the start of one, or `last`");
  const bool last = prefix == "last";
  SOLSTICE_TRY(Statement query, database.prepare(last ? kLast : "SELECT id FROM runs WHERE substr(id, 1, ?) = ? LIMIT 9"));
  if (!last) query.bind(static_cast<int64_t>(prefix.size())).bind(prefix);
  std::vector<std::string> ids;
  for (;;) {
    SOLSTICE_TRY(const bool row, query.step());
    if (!row) break;
    ids.push_back(query.text(0));
  }
  if (ids.size() == 1) return ids[0];
  if (ids.empty()) {
    return fail(Code::not_found, last ? std::string("the store holds no run yet")
                                      : fmt::format("no run `{}` in the store; `solstice show` lists them", prefix));
  }
  return fail(Code::bad_argument, fmt::format("`{}` could be any of {}", prefix, fmt::join(ids, ", ")));
}

}  // namespace

Store::Store(std::unique_ptr<State> state) : state_(std::move(state)) {}
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;
Store::~Store() = default;

Result<fs::path> Store::default_folder() { return home_folder(); }
const fs::path& Store::folder() const { return state_->folder; }

Result<Store> Store::open(const fs::path& folder) {
  SOLSTICE_CHECK(make_folder(folder));
  SOLSTICE_TRY(Database database, Database::open(folder / "runs.db"));
  SOLSTICE_CHECK(upgrade(database).context(fmt::format("opening {}", (folder / "runs.db").string())));
  return Store(std::make_unique<State>(State{folder, std::move(database)}));
}

Result<std::string> Store::begin_run(RunRecord run) {
  if (run.started.empty()) run.started = utc_now();
  if (run.id.empty()) run.id = new_id(run.started);
  SOLSTICE_CHECK(insert_run(state_->database, run));
  return run.id;
}

Status Store::describe_run(const std::string& id, const std::string& machine, const std::string& device,
                           const std::map<std::string, std::string>& versions, const Json& summary) {
  SOLSTICE_TRY(RunRecord run, read_run(state_->database, id));
  run.machine = machine;
  run.device = device;
  run.versions = versions;
  merge(summary, run.summary);
  return update_run(state_->database, run);
}

Result<std::vector<LoadedRun>> Store::verified_trials(std::string_view problem_key, int limit) {
  SOLSTICE_TRY(Statement query,
               state_->database.prepare("SELECT trials.record, runs.record, runs.id FROM trials JOIN runs ON trials.run = runs.id WHERE "
                                        "runs.problem_key = ? AND trials.state = 'verified' ORDER BY runs.started DESC, "
                                        "trials.number LIMIT ?"));
  query.bind(problem_key).bind(static_cast<int64_t>(limit));
  std::vector<LoadedRun> runs;
  for (;;) {
    SOLSTICE_TRY(const bool row, query.step());
    if (!row) return runs;
    const std::string id = query.text(2);
    SOLSTICE_TRY(TrialRecord trial, read_record<TrialRecord>(state_->database, "a trial of run " + id, query.text(0)));
    if (runs.empty() || runs.back().run.id != trial.run) {
      SOLSTICE_TRY(RunRecord run, read_record<RunRecord>(state_->database, "run " + id, query.text(1)));
      runs.push_back({std::move(run), {}});
    }
    runs.back().trials.push_back(std::move(trial));
  }
}

Status Store::identify_run(const std::string& id, const std::string& problem_key) {
  SOLSTICE_TRY(RunRecord run, read_run(state_->database, id));
  run.problem_key = problem_key;
  SOLSTICE_CHECK(insert_problem(state_->database, run));
  SOLSTICE_TRY(Statement update, state_->database.prepare("UPDATE runs SET problem_key = ? WHERE id = ?"));
  SOLSTICE_CHECK(update.bind(problem_key).bind(id).run());
  return update_run(state_->database, run);
}

Status Store::keep_choices(const RunRecord& now) {
  SOLSTICE_TRY(RunRecord run, read_run(state_->database, now.id));
  run.options = now.options;
  run.policy = now.policy;
  run.seed = now.seed;
  run.folder = now.folder;
  return update_run(state_->database, run);
}

Status Store::add_trial(const TrialRecord& trial) { return insert_trial(state_->database, trial); }

// A run that goes on and gets no event is what it was before, which has it too.
Status Store::keep_summary(const std::string& id, const Json& summary) {
  SOLSTICE_TRY(std::optional<Before> before, read_before(state_->database, id));
  if (before) merge(summary, before->run.summary);
  SOLSTICE_TRY(RunRecord run, read_run(state_->database, id));
  merge(summary, run.summary);
  SOLSTICE_TRY(Statement update, state_->database.prepare("UPDATE runs SET record = ?, before = ? WHERE id = ?"));
  return update.bind(to_json(run).dump()).bind(before ? to_json(before->run).dump() : "").bind(id).run();
}

Status Store::finish_run(const std::string& id, RunState state, RunOutcome outcome, std::string_view reason, const Json& summary) {
  SOLSTICE_TRY(RunRecord run, read_run(state_->database, id));
  run.state = state;
  run.outcome = outcome;
  run.reason = reason;
  merge(summary, run.summary);
  run.finished = utc_now();
  return close_record(state_->database, run);
}

Status Store::stop_run(const std::string& id, RunState state, std::string_view reason, const Json& summary) {
  SOLSTICE_TRY(std::optional<Before> before, read_before(state_->database, id));
  if (!before || before->touched) return finish_run(id, state, before ? before->run.outcome : RunOutcome::kNone, reason, summary);
  merge(summary, before->run.summary);
  return close_record(state_->database, before->run);
}

Result<std::vector<ListedRun>> Store::list(int limit) {
  SOLSTICE_TRY(Statement query, state_->database.prepare("SELECT id, record FROM runs ORDER BY id DESC LIMIT ?"));
  query.bind(static_cast<int64_t>(limit));
  std::vector<ListedRun> runs;
  for (;;) {
    SOLSTICE_TRY(const bool row, query.step());
    if (!row) return runs;
    const std::string id = query.text(0);
    runs.push_back({id, read_record<RunRecord>(state_->database, "run " + id, query.text(1))});
  }
}

Result<LoadedRun> Store::load_run(std::string_view id_or_prefix) {
  SOLSTICE_TRY(const std::string id, resolve(state_->database, id_or_prefix));
  return load_whole(state_->database, id);
}

Status Store::add_event(const std::string& run, size_t number, const search::Event& event, const TrialRecord* trial) {
  SOLSTICE_CHECK(state_->database.execute("BEGIN IMMEDIATE"));
  Status done = insert_event(state_->database, run, number, event, utc_now());
  if (done.ok() && trial) done = add_trial(*trial);
  if (done.ok()) return state_->database.execute("COMMIT");
  (void)state_->database.execute("ROLLBACK");  // the first error is the one to tell
  return done;
}

Result<bool> Store::add_run(const LoadedRun& run) {
  SOLSTICE_CHECK(state_->database.execute("BEGIN IMMEDIATE"));
  Result<bool> added = add_whole(state_->database, run);
  if (added.ok() && *added) {
    SOLSTICE_CHECK(state_->database.execute("COMMIT"));
  } else {
    (void)state_->database.execute("ROLLBACK");  // the first error is the one to tell
  }
  return added;
}

Result<int> Store::add_facts(const std::vector<Fact>& facts) {
  SOLSTICE_CHECK(state_->database.execute("BEGIN IMMEDIATE"));
  int fresh = 0;
  Status done = success();
  for (const Fact& fact : facts) {
    const Result<bool> added = insert_fact(state_->database, fact);
    if (!added.ok()) {
      done = added.error();
      break;
    }
    fresh += *added ? 1 : 0;
  }
  if (done.ok()) done = state_->database.execute("COMMIT");
  if (done.ok()) return fresh;
  (void)state_->database.execute("ROLLBACK");  // the first error is the one to tell
  return done.error();
}

Result<std::vector<Fact>> Store::facts(std::string_view machine, std::optional<int64_t> last) {
  SOLSTICE_TRY(Statement query,
               state_->database.prepare("SELECT facts.record, facts.number, texts.text FROM facts JOIN texts ON facts.form = texts.key "
                                        "WHERE (?1 = '' OR machine = ?1) AND number <= ?2 ORDER BY number"));
  query.bind(machine).bind(last.value_or(std::numeric_limits<int64_t>::max()));
  std::vector<Fact> out;
  for (;;) {
    SOLSTICE_TRY(const bool row, query.step());
    if (!row) return out;
    SOLSTICE_TRY(Fact fact, read_record<Fact>(state_->database, fmt::format("fact {}", query.integer(1)), query.text(0)));
    fact.structure.form = query.text(2);
    out.push_back(std::move(fact));
  }
}

Result<int64_t> Store::last_fact() {
  SOLSTICE_TRY(Statement query, state_->database.prepare("SELECT coalesce(max(number), 0) FROM facts"));
  SOLSTICE_TRY(const bool row, query.step());
  return row ? query.integer(0) : int64_t{0};
}

Status Store::resume_run(const std::string& id) {
  SOLSTICE_CHECK(close_abandoned());
  SOLSTICE_TRY(RunRecord run, read_run(state_->database, id));
  if (run.state == RunState::kRunning) return fail(Code::bad_argument, fmt::format("run {} is still going on, in another process", id));
  SOLSTICE_CHECK(mark_resumed(state_->database, id));
  run.state = RunState::kRunning;
  run.outcome = RunOutcome::kNone;
  run.reason.clear();
  run.finished.clear();
  return update_run(state_->database, run);
}

Result<int> Store::close_abandoned() {
  std::vector<std::string> gone;
  SOLSTICE_TRY(Statement query, state_->database.prepare("SELECT id, pid, process_start FROM runs WHERE state = 'running'"));
  for (;;) {
    SOLSTICE_TRY(const bool row, query.step());
    if (!row) break;
    if (process_start(static_cast<int>(query.integer(1))) != query.text(2)) gone.push_back(query.text(0));
  }
  for (const std::string& id : gone) {
    const bool readable = read_run(state_->database, id).ok();
    SOLSTICE_CHECK(readable ? stop_run(id, RunState::kInterrupted, "its process ended without a word")
                            : close_damaged(state_->database, id));
  }
  return static_cast<int>(gone.size());
}

}  // namespace solstice::store
