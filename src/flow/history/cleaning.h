// What Solstice keeps on this machine, and what of it can go: runs of the store, and caches.
//
// Nothing that a process works with is taken away: a run that is running stays, and entries of caches are read whole,
// so that a missing one is made anew by whoever wants it next. Files that a process is writing are left to it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "store/store.h"

namespace solstice::flow {

struct CleaningWishes {
  // Stages of a module that was cut have runs of their own: they go and stay with their module's run, uncounted.
  std::optional<Seconds> older_than;  // runs that began longer ago; alone, or beyond `keep`
  std::optional<int> keep;            // the newest runs stay
  std::optional<Bytes> cache_limit;   // of all caches together; what was not used for longest goes first
};

// One part of it.
struct Stock {
  std::string name;  // "runs", "compiled kernels", ..
  std::filesystem::path place;
  int entries = 0;
  Bytes size = {};
  int going = 0;  // of these, to remove
  Bytes going_size = {};
};

struct Cleaning {
  std::vector<Stock> stocks;
  std::vector<std::string> runs;             // to remove
  std::vector<std::filesystem::path> files;  // to remove

  bool empty() const { return runs.empty() && files.empty(); }
};

// `cache` is cache_folder() of base/paths.h. Damaged entries that were set aside, and what killed processes left half
// written, always go. Errors: those of the store.
Result<Cleaning> plan_cleaning(store::Store& store, const std::filesystem::path& cache, const CleaningWishes& wishes);

// Removes it. A file that is gone already is no error; io_error where one cannot be removed.
Status clean(store::Store& store, const Cleaning& cleaning);

}  // namespace solstice::flow
