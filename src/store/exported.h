// Export of a run as files, for people, other programs and other stores.
//
//   - folder: run.json (record/exported_run.h), trials.jsonl, events.jsonl; for people trials.csv, programs/N.ucut and
//     README.md
//   - json: all of it as one value (ExportedRun)
//   - csv: the trials as a table; cannot be read back
//
// Errors: bad_argument where something is in the way; bad_record, bad_json of what is read; not_found, io_error,
// disk_full.
#pragma once

#include <filesystem>
#include <string>

#include "record/exported_run.h"
#include "store/loaded_run.h"

namespace solstice::store {

ExportedRun exported(const LoadedRun& loaded);

// Appears whole or not at all. What is there is replaced only by `force`, and a folder only where it is an export and
// holds nothing else.
Status export_folder(const LoadedRun& loaded, const std::filesystem::path& folder, bool force);
// The same of a file with this content.
Status export_file(const std::string& content, const std::filesystem::path& file, bool force);

// Reads a folder, or one file. Also bad_record if lines are missing, ids do not match, or the run had not ended.
Result<LoadedRun> read_exported(const std::filesystem::path& path);

// For spreadsheets (RFC 4180): a line each trial, by number, those without a result too. Times are seconds. Text that a
// spreadsheet would take for a formula begins with '.
std::string trials_csv(const LoadedRun& loaded);

std::string export_readme(const LoadedRun& loaded);

}  // namespace solstice::store
