#include "store/rows.h"

#include <unistd.h>

#include "base/hash.h"
#include "store/process.h"

namespace solstice::store {
namespace {

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

Result<std::vector<StoredEvent>> read_events(Database& database, const std::string& run) {
  SOLSTICE_TRY(
      Statement query,
      database.prepare(
          "SELECT events.record, events.number, events.at, texts.text FROM events LEFT JOIN texts ON events.program = "
          "texts.key WHERE run = ? ORDER BY number"));
  query.bind(run);
  std::vector<StoredEvent> out;
  for (;;) {
    SOLSTICE_TRY(const bool row, query.step());
    if (!row) return out;
    const std::string what = fmt::format("event {} of run {}", query.integer(1), run);
    if (query.integer(1) != static_cast<int64_t>(out.size()))
      return fail(Code::store_error, fmt::format("{} in {} follows a missing one", what, database.file()));
    SOLSTICE_TRY(search::Event event, read_record<search::Event>(database, what, query.text(0)));
    if (event.proposal) event.proposal->program = query.text(3);
    out.push_back({std::move(event), query.text(2)});
  }
}

}  // namespace

Status insert_problem(Database& database, const RunRecord& run) {
  SOLSTICE_TRY(Statement insert, database.prepare("INSERT OR IGNORE INTO problems(key, name) VALUES (?, ?)"));
  return insert.bind(run.problem_key).bind(run.problem).run();
}

Status insert_run(Database& database, const RunRecord& run) {
  SOLSTICE_CHECK(insert_problem(database, run));
  SOLSTICE_TRY(Statement insert,
               database.prepare("INSERT INTO runs(id, problem_key, options_key, started, finished, state, pid, "
                                "process_start, record) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"));
  insert.bind(run.id).bind(run.problem_key).bind(run.options_key).bind(run.started).bind(run.finished);
  insert.bind(enum_name(run.state)).bind(static_cast<int64_t>(::getpid())).bind(process_start(::getpid()));
  return insert.bind(to_json(run).dump()).run();
}

Status update_run(Database& database, const RunRecord& run) {
  SOLSTICE_TRY(Statement update, database.prepare("UPDATE runs SET finished = ?, state = ?, record = ? WHERE id = ?"));
  return update.bind(run.finished).bind(enum_name(run.state)).bind(to_json(run).dump()).bind(run.id).run();
}

Result<RunRecord> read_run(Database& database, const std::string& id) {
  SOLSTICE_TRY(Statement query, database.prepare("SELECT record FROM runs WHERE id = ?"));
  query.bind(id);
  SOLSTICE_TRY(const bool row, query.step());
  if (!row) return fail(Code::not_found, fmt::format("no run `{}` in the store", id));
  return read_record<RunRecord>(database, "run " + id, query.text(0));
}

Result<bool> has_run(Database& database, const std::string& id) {
  SOLSTICE_TRY(Statement query, database.prepare("SELECT 1 FROM runs WHERE id = ?"));
  return query.bind(id).step();
}

Status insert_trial(Database& database, const TrialRecord& trial) {
  SOLSTICE_TRY(Statement insert,
               database.prepare("INSERT OR REPLACE INTO trials(run, number, state, record) VALUES (?, ?, ?, ?)"));
  insert.bind(trial.run).bind(static_cast<int64_t>(trial.number));
  insert.bind(enum_name(trial.state));
  return insert.bind(to_json(trial).dump()).run();
}

Status insert_event(Database& database, const std::string& run, size_t number, search::Event event,
                    const std::string& at) {
  std::string key;
  if (event.proposal) {
    SOLSTICE_TRY(key, keep_text(database, event.proposal->program));
    event.proposal->program.clear();
  }
  SOLSTICE_TRY(Statement insert,
               database.prepare(
                   "INSERT INTO events(run, number, at, kind, node, program, record) VALUES (?, ?, ?, ?, ?, ?, ?)"));
  insert.bind(run).bind(static_cast<int64_t>(number)).bind(at);
  insert.bind(enum_name(event.kind)).bind(static_cast<int64_t>(event.node)).bind(key);
  return insert.bind(to_json(event).dump()).run();
}

Result<bool> has_event(Database& database, const std::string& run, size_t number) {
  SOLSTICE_TRY(Statement query, database.prepare("SELECT 1 FROM events WHERE run = ? AND number = ?"));
  return query.bind(run).bind(static_cast<int64_t>(number)).step();
}

Result<LoadedRun> load_whole(Database& database, const std::string& id) {
  LoadedRun out;
  SOLSTICE_TRY(out.run, read_run(database, id));
  SOLSTICE_TRY(out.trials, read_trials(database, id));
  SOLSTICE_TRY(out.events, read_events(database, id));
  return out;
}

Result<std::string> keep_text(Database& database, const std::string& text) {
  const std::string key = hash_hex(text);
  SOLSTICE_TRY(Statement insert, database.prepare("INSERT OR IGNORE INTO texts(key, text) VALUES (?, ?)"));
  SOLSTICE_CHECK(insert.bind(key).bind(text).run());
  return key;
}

}  // namespace solstice::store
