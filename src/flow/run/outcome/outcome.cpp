#include "flow/run/outcome/outcome.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"

namespace solstice::flow {
namespace fs = std::filesystem;
namespace {

constexpr const char* kFresh = ".fresh";    // in the making
constexpr const char* kWhole = ".outcome";  // whole, on the way to its place
constexpr const char* kTrials = "trials";
constexpr const char* kLock = ".lock";
constexpr const char* kList = ".files";  // what the outcome consists of

// The files of an outcome that can be named before there is one.
constexpr const char* kExpected[] = {"report.md",        "report.json",    "problem.ucut", "program.ucut",
                                     "plan.json",        "model_new.py",   "dropin.json",  "original.py",
                                     "original_modules", "solstice_dropin"};

Error moving_failed(const fs::path& what, const std::error_code& error) {
  return fail(error == std::errc::no_space_on_device ? Code::disk_full : Code::io_error,
              fmt::format("cannot move {} into place: {}", what.string(), error.message()));
}

// Reports say that an outcome is there: they come last.
bool later(const fs::path& file) { return file.filename() == "report.json" || file.filename() == "report.md"; }

// A name from the list may not lead out of the folder.
bool is_inside(const fs::path& file) {
  return !file.empty() && file.is_relative() && std::find(file.begin(), file.end(), fs::path("..")) == file.end();
}

bool is_there(const fs::path& file) {
  std::error_code ignored;  // what cannot be looked at cannot be replaced either: that will tell
  return fs::exists(fs::symlink_status(file, ignored));
}

bool is_below(const fs::path& file, const fs::path& folder) {
  return std::mismatch(folder.begin(), folder.end(), file.begin(), file.end()).first == folder.end();
}

// Those of `folder` and of the folders above it that are not there, innermost first.
std::vector<fs::path> missing_folders(fs::path folder) {
  std::vector<fs::path> out;
  std::error_code ignored;  // what cannot be looked at cannot be made either: that will tell
  if (!folder.has_filename()) folder = folder.parent_path();  // "out/"
  for (; !folder.empty() && !fs::exists(folder, ignored); folder = folder.parent_path()) out.push_back(folder);
  return out;
}

// The files that the outcome in `folder` consists of; none where there is no list.
Result<std::vector<fs::path>> read_list(const fs::path& folder) {
  std::vector<fs::path> files;
  if (!is_there(folder / kList)) return files;
  SOLSTICE_TRY(const std::string text, read_file(folder / kList));
  const Result<Json> list = parse_json(text);
  if (!list.ok() || !list->is_array()) {
    return fail(Code::bad_record,
                fmt::format("{} does not list the files of the earlier result", (folder / kList).string()),
                "use another --out, or empty the folder");
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

// A run that was killed is taken down for a moment: what it was starting still holds its descriptors.
constexpr Seconds kTakenDown{2};

// 0, or the error of the last try.
int lock_within(int descriptor, Seconds time) {
  const Deadline deadline(time);
  while (::flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
    const int error = errno;
    if (error != EWOULDBLOCK || deadline.passed()) return error;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return 0;
}

Error not_ours(const fs::path& file) {
  return fail(Code::bad_argument,
              fmt::format("{} exists and is not a file of an earlier result, so it is not replaced", file.string()),
              "move it away, or use another --out");
}

Status remove_stale(const fs::path& out, const std::vector<fs::path>& old, const std::vector<fs::path>& files) {
  for (const fs::path& file : old) {
    if (std::find(files.begin(), files.end(), file) != files.end()) continue;
    std::error_code error;
    fs::remove(out / file, error);
    if (error)
      return fail(Code::io_error,
                  fmt::format("cannot remove {} of an earlier outcome: {}", (out / file).string(), error.message()));
    for (fs::path folder = file.parent_path(); !folder.empty(); folder = folder.parent_path())
      fs::remove(out / folder, error);  // one that holds something else stays
  }
  return success();
}

// Files that are still to be moved from `whole` may replace only those that the list of `out` names.
Status check_places(const fs::path& whole, const fs::path& out, const std::vector<fs::path>& files) {
  SOLSTICE_TRY(const std::vector<fs::path> old, read_list(out));
  for (const fs::path& file : files) {
    const bool listed = std::find(old.begin(), old.end(), file) != old.end();
    if (!listed && is_there(whole / file) && is_there(out / file)) return not_ours(out / file);
  }
  return success();
}

// Can be stopped and begun again anywhere: what is moved is no longer in `whole`, and its list goes last.
Status move_whole(const fs::path& out) {
  const fs::path whole = out / kWhole;
  std::error_code error;
  if (is_there(whole / kList)) {
    SOLSTICE_TRY(std::vector<fs::path> files, read_list(whole));
    SOLSTICE_TRY(const std::vector<fs::path> old, read_list(out));
    SOLSTICE_CHECK(check_places(whole, out, files));
    SOLSTICE_CHECK(remove_stale(out, old, files));
    files.push_back(kList);
    for (const fs::path& file : files) {
      if (!is_there(whole / file)) continue;
      if (file.has_parent_path()) SOLSTICE_CHECK(make_folder(out / file.parent_path()));
      fs::rename(whole / file, out / file, error);
      if (error) return moving_failed(out / file, error);
    }
  }
  fs::remove_all(whole, error);
  if (error) return fail(Code::io_error, fmt::format("cannot remove {}: {}", whole.string(), error.message()));
  return success();
}

bool is_stage(const std::string& folder) {
  constexpr std::string_view kPrefix = "stage_";
  return folder.starts_with(kPrefix) && folder.size() > kPrefix.size() &&
         folder.find_first_not_of("0123456789", kPrefix.size()) == std::string::npos;
}

// Of a module that PyTorch runs a part of: which stages it has is known at the end only.
Status check_stages(const fs::path& out, const std::vector<fs::path>& listed) {
  if (!is_there(out)) return success();
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(out, error)) {
    const fs::path folder = entry.path().filename();
    if (!is_stage(folder.string())) continue;
    for (const char* name : kExpected) {
      const bool ours = std::find(listed.begin(), listed.end(), folder / name) != listed.end();
      if (!ours && is_there(out / folder / name)) return not_ours(out / folder / name);
    }
  }
  if (error) return fail(Code::io_error, fmt::format("cannot read {}: {}", out.string(), error.message()));
  return success();
}

Status check_room(const fs::path& out) {
  SOLSTICE_TRY(const std::vector<fs::path> listed, read_list(out));
  for (const char* name : kExpected) {
    const bool ours =
        std::any_of(listed.begin(), listed.end(), [&](const fs::path& file) { return is_below(file, name); });
    if (!ours && is_there(out / name)) return not_ours(out / name);
  }
  return check_stages(out, listed);
}

}  // namespace

std::string subject_text(const fs::path& file, const std::string& class_name) {
  if (file.empty()) return "";
  std::error_code error;
  const fs::path whole = fs::weakly_canonical(file, error);
  return (error ? file : whole).string() + (class_name.empty() ? "" : ":" + class_name);
}

std::string subject_in(const fs::path& folder) {
  for (const fs::path& place : {folder / kWhole, folder}) {
    const Result<std::string> text = read_file(place / "report.json");
    if (!text.ok()) continue;
    const Result<Json> report = parse_json(*text);
    return report.ok() ? subject_text(report->at("file").as_string(), report->at("class_name").as_string())
                       : "what its damaged report.json does not say";
  }
  return "";
}

fs::path folder_for(const fs::path& wanted, const std::string& subject) {
  fs::path folder = wanted;
  for (int number = 2;; ++number) {
    const std::string found = subject_in(folder);
    if (found.empty() || found == subject) return folder;
    folder = fmt::format("{}-{}", wanted.string(), number);
  }
}

Result<OutcomeLock> OutcomeLock::take(const fs::path& out) {
  const std::vector<fs::path> made = missing_folders(out);
  SOLSTICE_CHECK(make_folder(out));
  const std::string file = (out / kLock).string();
  const int descriptor = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (descriptor < 0)
    return fail(Code::io_error, fmt::format("cannot write into {}: {}", out.string(), std::strerror(errno)),
                "name another folder with --out");
  OutcomeLock lock(descriptor);
  lock.file_ = file;
  lock.made_ = made;
  const int error = lock_within(descriptor, kTakenDown);
  if (error == 0) return lock;
  if (error != EWOULDBLOCK)
    return fail(Code::io_error, fmt::format("cannot lock {}: {}", file, std::strerror(error)),
                "name a folder on another disk with --out");
  return fail(Code::bad_argument, fmt::format("another run of solstice writes to {}", out.string()),
              "wait for it, or use another --out");
}

void OutcomeLock::leave_no_trace() {
  std::error_code ignored;  // what holds something else stays
  if (made_.empty()) return;
  fs::remove(file_, ignored);
  for (const fs::path& folder : made_) fs::remove(folder, ignored);
}

OutcomeLock::~OutcomeLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Result<fs::path> begin_outcome(const fs::path& out) {
  SOLSTICE_CHECK(move_whole(out).context("finishing the result of a run that was killed"));
  SOLSTICE_CHECK(check_room(out));
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
  SOLSTICE_CHECK(check_places(fresh, out, files));
  SOLSTICE_CHECK(write_list(fresh, files));
  fs::rename(fresh, out / kWhole, error);  // from here on it is the outcome
  if (error) return moving_failed(out, error);
  return move_whole(out);
}

}  // namespace solstice::flow
