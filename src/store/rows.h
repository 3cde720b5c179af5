// Rows of the store's tables as records, and back. Whoever calls has the transaction.
//
// Errors: store_error, disk_full; of a record that cannot be read store_error, which names it.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "store/loaded_run.h"
#include "store/sqlite.h"

namespace solstice::store {

// `what` names it: "run ID".
template <typename T>
Result<T> read_record(const Database& database, const std::string& what, const std::string& text) {
  const Result<Json> json = parse_json(text);
  Result<T> record = json.ok() ? from_json<T>(*json) : Result<T>(json.error());
  if constexpr (requires(T & known) { known.renew(); }) {
    if (record.ok()) record->renew();
  }
  if (record.ok()) return record;
  return fail(Code::store_error,
              fmt::format("the record of {} in {} is damaged: {}", what, database.file(), record.error().message));
}

// SQL, of a row of `runs`: 1 of a stage of a module that was cut, which has a run of its own; 0 of a damaged record.
inline constexpr const char* kIsPart =
    "CASE WHEN json_valid(record) THEN coalesce(json_extract(record, '$.options.part'), 0) ELSE 0 END";

Status insert_problem(Database& database, const RunRecord& run);
Status insert_run(Database& database, const RunRecord& run);  // of this process
Status update_run(Database& database, const RunRecord& run);
Result<RunRecord> read_run(Database& database, const std::string& id);  // not_found
Result<bool> has_run(Database& database, const std::string& id);

Status insert_trial(Database& database, const TrialRecord& trial);  // a number that exists is replaced

// `at`: UTC.
Status insert_event(Database& database, const std::string& run, size_t number, search::Event event,
                    const std::string& at);
Result<bool> has_event(Database& database, const std::string& run, size_t number);

Result<LoadedRun> load_whole(Database& database, const std::string& id);  // not_found

// Keeps it once; the key that stands for it.
Result<std::string> keep_text(Database& database, const std::string& text);

}  // namespace solstice::store
