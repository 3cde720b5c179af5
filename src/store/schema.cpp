#include "store/schema.h"

#include <fmt/format.h>

#include <array>

namespace solstice::store {
namespace {

// Columns are what is searched by; `record` is the whole record as JSON (record/run.h, record/trial.h).
constexpr const char* kVersion1 = R"sql(
CREATE TABLE problems (
  key   TEXT PRIMARY KEY,
  name  TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE runs (
  id           TEXT PRIMARY KEY,
  problem_key  TEXT NOT NULL REFERENCES problems(key),
  options_key  TEXT NOT NULL,
  started      TEXT NOT NULL,
  finished     TEXT NOT NULL,
  state        TEXT NOT NULL,
  pid          INTEGER NOT NULL,
  process_start TEXT NOT NULL,
  record       TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX runs_by_problem ON runs(problem_key, options_key, started);
CREATE TABLE trials (
  run     TEXT NOT NULL REFERENCES runs(id),
  number  INTEGER NOT NULL,
  state   TEXT NOT NULL,
  record  TEXT NOT NULL,
  PRIMARY KEY (run, number)
) WITHOUT ROWID;
)sql";

// Searches event by event (record/search_event.h). Texts are kept once, by their hash; `record` has "" in their place.
constexpr const char* kVersion2 = R"sql(
CREATE TABLE texts (
  key   TEXT PRIMARY KEY,
  text  TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE events (
  run      TEXT NOT NULL REFERENCES runs(id),
  number   INTEGER NOT NULL,
  at       TEXT NOT NULL,
  kind     TEXT NOT NULL,
  node     INTEGER NOT NULL,
  program  TEXT NOT NULL,
  record   TEXT NOT NULL,
  PRIMARY KEY (run, number)
) WITHOUT ROWID;
)sql";

// Gains of single moves (record/fact.h), in the order in which they were learnt. A node is counted once, and
// nothing is taken back. The form is a text of `texts`; `record` has "" in its place.
constexpr const char* kVersion3 = R"sql(
CREATE TABLE facts (
  number   INTEGER PRIMARY KEY AUTOINCREMENT,
  run      TEXT NOT NULL REFERENCES runs(id),
  node     INTEGER NOT NULL,
  machine  TEXT NOT NULL,
  form     TEXT NOT NULL,
  record   TEXT NOT NULL,
  UNIQUE (run, node)
);
CREATE INDEX facts_by_machine ON facts(machine, number);
CREATE TRIGGER facts_stay BEFORE DELETE ON facts BEGIN SELECT RAISE(ABORT, 'facts are only added'); END;
CREATE TRIGGER facts_keep BEFORE UPDATE ON facts BEGIN SELECT RAISE(ABORT, 'facts are only added'); END;
)sql";

// A run that goes on: its record as it was before, and how many events it had; "" once it has come to an end.
constexpr const char* kVersion4 = R"sql(
ALTER TABLE runs ADD COLUMN before TEXT NOT NULL DEFAULT '';
ALTER TABLE runs ADD COLUMN events_before INTEGER NOT NULL DEFAULT 0;
)sql";

// Facts outlive their run: `solstice gc` removes old ones.
constexpr const char* kVersion5 = R"sql(
CREATE TABLE facts_of_any_run (
  number   INTEGER PRIMARY KEY AUTOINCREMENT,
  run      TEXT NOT NULL,
  node     INTEGER NOT NULL,
  machine  TEXT NOT NULL,
  form     TEXT NOT NULL,
  record   TEXT NOT NULL,
  UNIQUE (run, node)
);
INSERT INTO facts_of_any_run SELECT number, run, node, machine, form, record FROM facts;
DROP TABLE facts;
ALTER TABLE facts_of_any_run RENAME TO facts;
CREATE INDEX facts_by_machine ON facts(machine, number);
CREATE TRIGGER facts_stay BEFORE DELETE ON facts BEGIN SELECT RAISE(ABORT, 'facts are only added'); END;
CREATE TRIGGER facts_keep BEFORE UPDATE ON facts BEGIN SELECT RAISE(ABORT, 'facts are only added'); END;
)sql";

constexpr std::array kSteps = {kVersion1, kVersion2, kVersion3, kVersion4, kVersion5};

Result<int64_t> current_version(Database& database) {
  SOLSTICE_TRY(Statement query, database.prepare("PRAGMA user_version"));
  SOLSTICE_TRY(const bool row, query.step());
  return row ? query.integer(0) : int64_t{0};
}

Status apply(Database& database, int64_t from) {
  for (size_t i = static_cast<size_t>(from); i < kSteps.size(); ++i) {
    SOLSTICE_CHECK(database.execute(kSteps[i]));
    SOLSTICE_CHECK(database.execute(fmt::format("PRAGMA user_version = {}", i + 1).c_str()));
  }
  return success();
}

}  // namespace

int schema_version() { return static_cast<int>(kSteps.size()); }

Status upgrade(Database& database) {
  // The lock comes first: another process may be upgrading the same file.
  SOLSTICE_TRY(Transaction all, Transaction::write(database));
  SOLSTICE_TRY(const int64_t version, current_version(database));
  if (version > schema_version()) {
    return fail(Code::store_error,
                fmt::format("the run store {} is of a newer solstice: it has schema {}, and this program knows {}",
                            database.file(), version, schema_version()),
                "use a newer solstice, or another folder: --store DIR, or SOLSTICE_HOME");
  }
  SOLSTICE_CHECK(apply(database, version));
  return all.commit();
}

}  // namespace solstice::store
