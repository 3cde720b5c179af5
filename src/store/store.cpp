#include "store/store.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/paths.h"
#include "store/exported.h"
#include "store/rows.h"
#include "store/schema.h"

namespace solstice::store {
namespace fs = std::filesystem;
namespace {

// False where the very same is there.
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
  for (size_t i = 0; i < run.events.size(); ++i)
    SOLSTICE_CHECK(insert_event(database, id, i, run.events[i].event, run.events[i].at));
  return true;
}

// The newest run. `started` has milliseconds, an id only seconds. Runs that failed before their search are passed over
// where there are others: nobody means a mistyped command. So are parts of a module, whose own run is the one that is
// meant.
const std::string kLast = fmt::format(
    "SELECT id FROM runs ORDER BY state = 'failed' AND NOT EXISTS (SELECT 1 FROM events WHERE events.run = runs.id) "
    "AND NOT EXISTS (SELECT 1 FROM trials WHERE trials.run = runs.id), "
    "{}, started DESC, id DESC LIMIT 1",
    kIsPart);

// The one id that `prefix` means.
Result<std::string> resolve(Database& database, std::string_view prefix) {
  if (prefix.empty()) return fail(Code::bad_argument, "no run is named", "give an id, the start of one, or `last`");
  const bool last = prefix == "last";
  SOLSTICE_TRY(Statement query,
               database.prepare(last ? kLast : std::string("SELECT id FROM runs WHERE substr(id, 1, ?) = ? LIMIT 9")));
  if (!last) query.bind(static_cast<int64_t>(prefix.size())).bind(prefix);
  std::vector<std::string> ids;
  for (;;) {
    SOLSTICE_TRY(const bool row, query.step());
    if (!row) break;
    ids.push_back(query.text(0));
  }
  if (ids.size() == 1) return ids[0];
  if (ids.empty()) {
    if (last) return fail(Code::not_found, "the store holds no run yet", "`solstice optimize FILE.py` makes one");
    return fail(Code::not_found, fmt::format("no run `{}` in the store", prefix), "`solstice show` lists them");
  }
  return fail(Code::bad_argument, fmt::format("`{}` could be any of {}", prefix, fmt::join(ids, ", ")),
              "give more of its id");
}

}  // namespace

Result<fs::path> Store::default_folder() { return home_folder(); }
const fs::path& Store::folder() const { return state_->folder; }

Result<Store> Store::open(const fs::path& folder) {
  SOLSTICE_CHECK(make_folder(folder));
  SOLSTICE_TRY(Database database, Database::open(folder / "runs.db"));
  SOLSTICE_CHECK(upgrade(database).context(fmt::format("opening {}", (folder / "runs.db").string())));
  return Store(std::make_unique<OpenStore>(OpenStore{folder, std::move(database)}));
}

Result<std::vector<LoadedRun>> Store::verified_trials(std::string_view problem_key, std::string_view before,
                                                      int limit) {
  SOLSTICE_TRY(Statement query,
               state_->database.prepare(
                   "SELECT trials.record, runs.record, runs.id FROM trials JOIN runs ON trials.run = runs.id WHERE "
                   "runs.problem_key = ? AND trials.state = 'verified' AND (? = '' OR runs.started < ?) "
                   "ORDER BY runs.started DESC, trials.number LIMIT ?"));
  query.bind(problem_key).bind(before).bind(before).bind(static_cast<int64_t>(limit));
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

Status Store::add_trial(const TrialRecord& trial) {
  SOLSTICE_TRY(Transaction all, Transaction::write(state_->database));
  SOLSTICE_CHECK(insert_trial(state_->database, trial));
  return all.commit();
}

Result<std::vector<ListedRun>> Store::list(int limit) {
  SOLSTICE_TRY(Statement query,
               state_->database.prepare("SELECT id, record FROM runs ORDER BY started DESC, id DESC LIMIT ?"));
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
  SOLSTICE_TRY(const Transaction all, Transaction::read(state_->database));
  SOLSTICE_TRY(const std::string id, resolve(state_->database, id_or_prefix));
  return load_whole(state_->database, id);
}

Status Store::add_event(const std::string& run, size_t number, const search::Event& event, const TrialRecord* trial) {
  Database& database = state_->database;
  SOLSTICE_TRY(Transaction all, Transaction::write(database));
  SOLSTICE_TRY(const bool there, has_event(database, run, number));
  if (there)
    return fail(Code::bad_argument, fmt::format("another process continued run {}", run), "run the command again");
  SOLSTICE_CHECK(insert_event(database, run, number, event, utc_now()));
  if (trial) SOLSTICE_CHECK(insert_trial(database, *trial));
  return all.commit();
}

Result<bool> Store::add_run(const LoadedRun& run) {
  SOLSTICE_TRY(Transaction all, Transaction::write(state_->database));
  SOLSTICE_TRY(const bool added, add_whole(state_->database, run));
  SOLSTICE_CHECK(all.commit());
  return added;
}

}  // namespace solstice::store
