// Runs in a store, and the store itself.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "base/result.h"
#include "flow/run/state/options.h"
#include "search/stop_rule.h"
#include "store/store.h"

namespace solstice::flow {

// A run's place in the store.
struct StoredRun {
  std::optional<store::Store> store;  // none for a program that is tried once
  std::string source;                 // text of the user's file
  std::string of;                     // text of the module's file, of a program that names one
  std::string problem_key;
  std::optional<store::LoadedRun> resumed;  // the run that goes on
  int64_t facts = 0;                        // number of the last fact of other problems that it goes by; 0: of none
};

// The store that is named; "": the user's.
Result<store::Store> store_of(const std::filesystem::path& named);
// The same, for a caller that asks for runs that are there. Error not_found where no store lies in the folder that is
// named: it is not made.
Result<store::Store> existing_store(const std::filesystem::path& named);

// RunRecord::problem_key of a file's text, and of what is taken of it; `of`: StoredRun::of.
std::string problem_key(const std::string& source, const std::string& of, const ModuleOptions& module);
// Reads the files of `module`: `source`, `of` and `problem_key`.
Status read_source(const ModuleOptions& module, StoredRun& stored);
// A path as records have it, readable from any folder; "" for "".
std::string whole_path(const std::filesystem::path& path);

// Candidates were measured on a GPU, as the run's events say, or were to be, as its record does; else their times are
// predicted, or nothing came in yet.
bool is_of_gpu(const store::LoadedRun& loaded);
// That GPU's name; "a GPU" where results of batches came without it.
std::string gpu_of(const RunRecord& run);
// The stop that records have under this name; none where there is none, or a newer Solstice wrote it.
std::optional<search::Stop> stop_named(const std::string& word);
// It has had batches.
bool is_measured_elsewhere(const RunRecord& run);

}  // namespace solstice::flow
