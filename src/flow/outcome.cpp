#include "flow/outcome.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "base/file.h"
#include "base/json.h"
#include "base/log.h"

namespace solstice::flow {
namespace fs = std::filesystem;
namespace {

constexpr const char* kFresh = ".fresh";
constexpr const char* kTrials = "trials";
constexpr const char* kLock = ".lock";
constexpr const char* kList = ".files";                                                       // what the outcome consists of
constexpr const char* kOwn[] = {"model_new.py", "dropin.json", "program.ucut", "plan.json"};  // of an outcome without a list

Error moving_failed(const fs::path& what, const std::error_code& error) {
  return fail(error == std::errc::no_space_on_device ? Code::disk_full : Code::io_error,
              fmt::format("cannot move {} into place: {}", what.string(), error.message()));
}

// Reports say that an outcome is there: they come last.
bool later(const fs::path& file) { return file.filename() == "report.json" || file.filename() == "report.md"; }

// A name from the list may not lead out of the folder.
bool is_inside(const fs::path& file) { return file.is_relative() && std::find(file.begin(), file.end(), fs::path("..")) == file.end(); }

std::vector<fs::path> files_of_the_last(const fs::path& out) {
  std::error_code ignored;
  std::vector<fs::path> files(std::begin(kOwn), std::end(kOwn));
  if (!fs::exists(out / kList, ignored)) return files;
  const Result<std::string> text = read_file(out / kList);
  const Result<Json> list = text.ok() ? parse_json(*text) : Result<Json>(text.error());
  if (!list.ok() || !list->is_array()) {
    log_warning("files of an earlier outcome may stay", Json::object().set("unreadable", (out / kList).string()));
    return files;
  }
  for (size_t i = 0; i < list->size(); ++i) {
    if (const fs::path file = list->at(i).as_string(); is_inside(file)) files.push_back(file);
  }
  return files;
}

Status write_list(const fs::path& folder, const std::vector<fs::path>& files) {
  Json list = Json::array();
  for (const fs::path& file : files) list.push(file.string());
  return write_file(folder / kList, list.dump(1) + "\n");
}

Status remove_stale(const fs::path& out, const std::vector<fs::path>& files) {
  for (const fs::path& old : files_of_the_last(out)) {
    if (std::find(files.begin(), files.end(), old) != files.end()) continue;
    std::error_code error;
    fs::remove(out / old, error);
    if (error)
      return fail(Code::io_error, fmt::format("cannot remove {} of an earlier outcome: {}", (out / old).string(), error.message()));
  }
  return success();
}

}  // namespace

Result<OutcomeLock> OutcomeLock::take(const fs::path& out) {
  SOLSTICE_CHECK(make_folder(out));
  const std::string file = (out / kLock).string();
  const int descriptor = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (descriptor < 0) return fail(Code::io_error, fmt::format("cannot open {}: {}", file, std::strerror(errno)));
  OutcomeLock lock(descriptor);
  if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0) return lock;
  if (errno != EWOULDBLOCK) return fail(Code::io_error, fmt::format("cannot lock {}: {}", file, std::strerror(errno)));
  return fail(Code::bad_argument, fmt::format("another run of solstice writes to {}; wait for it, or use another --out", out.string()));
}

OutcomeLock::~OutcomeLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

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
  SOLSTICE_CHECK(remove_stale(out, files));
  // Whatever happens from here on, the next run knows what to remove.
  SOLSTICE_CHECK(write_list(out, files));
  for (const fs::path& file : files) {
    fs::rename(fresh / file, out / file, error);
    if (error) return moving_failed(out / file, error);
  }
  fs::remove_all(fresh, error);
  return success();
}

}  // namespace solstice::flow
