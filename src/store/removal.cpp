// Sizes of runs, and their removal.
#include <fmt/format.h>

#include "store/rows.h"
#include "store/store.h"

namespace solstice::store {
namespace {

const std::string kSizes = fmt::format(
    "SELECT id, state, (julianday('now') - julianday(started)) * 86400, length(record) + length(before) + "
    "(SELECT coalesce(sum(length(record)), 0) FROM trials WHERE run = runs.id) + "
    "(SELECT coalesce(sum(length(record)), 0) FROM events WHERE run = runs.id) + "
    "(SELECT coalesce(sum(length(text)), 0) FROM texts WHERE key IN (SELECT program FROM events WHERE run = runs.id))"
    ", {}, CASE WHEN json_valid(record) THEN coalesce(json_extract(record, '$.options.part_of'), '') ELSE '' END "
    "FROM runs ORDER BY started, id",
    kIsPart);

Status remove_rows(Database& database, const std::string& table, const std::string& run) {
  SOLSTICE_TRY(Statement remove, database.prepare("DELETE FROM " + table + " WHERE run = ?"));
  return remove.bind(run).run();
}

// False where it is not there, or runs.
Result<bool> remove_ended(Database& database, const std::string& id) {
  SOLSTICE_TRY(Statement ended, database.prepare("SELECT 1 FROM runs WHERE id = ? AND state != 'running'"));
  SOLSTICE_TRY(const bool there, ended.bind(id).step());
  if (!there) return false;
  for (const char* table : {"events", "trials"}) SOLSTICE_CHECK(remove_rows(database, table, id));
  SOLSTICE_TRY(Statement remove, database.prepare("DELETE FROM runs WHERE id = ?"));
  SOLSTICE_CHECK(remove.bind(id).run());
  return true;
}

// "": none.
Result<std::string> a_running_run(Database& database) {
  SOLSTICE_TRY(Statement query, database.prepare("SELECT id FROM runs WHERE state = 'running' ORDER BY started"));
  SOLSTICE_TRY(const bool row, query.step());
  return row ? query.text(0) : std::string();
}

constexpr const char* kRemoveUnused =
    "DELETE FROM problems WHERE key NOT IN (SELECT problem_key FROM runs);"
    "DELETE FROM texts WHERE key NOT IN (SELECT program FROM events) AND key NOT IN (SELECT form FROM facts);";

}  // namespace

Result<std::vector<RunSize>> Store::sizes() {
  SOLSTICE_TRY(Statement query, state_->database.prepare(kSizes));
  std::vector<RunSize> all;
  for (;;) {
    SOLSTICE_TRY(const bool row, query.step());
    if (!row) return all;
    all.push_back({query.text(0), query.text(1) == enum_name(RunState::kRunning),
                   Seconds(static_cast<double>(query.integer(2))), Bytes(static_cast<double>(query.integer(3))),
                   query.integer(4) != 0, query.text(5)});
  }
}

Result<int> Store::remove_runs(const std::vector<std::string>& ids) {
  Database& database = state_->database;
  int removed = 0;
  for (const std::string& id : ids) {
    SOLSTICE_TRY(Transaction one, Transaction::write(database));
    SOLSTICE_TRY(const bool done, remove_ended(database, id));
    SOLSTICE_CHECK(one.commit());
    removed += done ? 1 : 0;
  }
  SOLSTICE_TRY(Transaction rest, Transaction::write(database));
  SOLSTICE_CHECK(database.execute(kRemoveUnused));
  SOLSTICE_CHECK(rest.commit());
  return removed;
}

Status Store::compact() {
  Database& database = state_->database;
  SOLSTICE_TRY(const std::string running, a_running_run(database));
  if (!running.empty())
    return fail(Code::store_error, fmt::format("run {} is running, and could not write meanwhile", running),
                "`solstice gc --yes` again once it has ended");
  return database.execute("VACUUM; PRAGMA wal_checkpoint(TRUNCATE);");
}

}  // namespace solstice::store
