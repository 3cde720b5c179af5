#include "flow/outcome.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/file.h"

namespace solstice::flow {
namespace fs = std::filesystem;
namespace {

constexpr const char* kFresh = ".fresh";
constexpr const char* kTrials = "trials";
constexpr const char* kOwn[] = {"model_new.py", "dropin.json", "program.ucut", "plan.json"};

Error moving_failed(const fs::path& what, const std::error_code& error) {
  return fail(error == std::errc::no_space_on_device ? Code::disk_full : Code::io_error,
              fmt::format("cannot move {} into place: {}", what.string(), error.message()));
}

// Reports say that an outcome is there: they come last.
bool later(const fs::path& file) { return file.filename() == "report.json" || file.filename() == "report.md"; }

}  // namespace

Result<fs::path> begin_outcome(const fs::path& out) {
  const fs::path fresh = out / kFresh;
  std::error_code error;
  fs::remove_all(fresh, error);
  if (error) return fail(Code::io_error, fmt::format("cannot clear {}: {}", fresh.string(), error.message()));
  SOLSTICE_CHECK(make_folder(fresh));
  return fresh;
}

Status commit_outcome(const fs::path& fresh, const fs::path& out) {
  std::error_code error;
  fs::remove_all(fresh / kTrials, error);
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(fresh, error)) {
    if (entry.is_regular_file(error)) files.push_back(entry.path().lexically_relative(fresh));
  }
  if (error) return moving_failed(fresh, error);
  std::stable_partition(files.begin(), files.end(), [](const fs::path& file) { return !later(file); });
  for (const fs::path& file : files) {
    if (file.has_parent_path()) SOLSTICE_CHECK(make_folder(out / file.parent_path()));
  }
  for (const char* own : kOwn) {
    if (std::find(files.begin(), files.end(), fs::path(own)) == files.end()) fs::remove(out / own, error);
  }
  for (const fs::path& file : files) {
    fs::rename(fresh / file, out / file, error);
    if (error) return moving_failed(out / file, error);
  }
  fs::remove_all(fresh, error);
  return success();
}

}  // namespace solstice::flow
