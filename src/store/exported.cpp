#include "store/exported.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <map>

#include "base/file.h"

namespace solstice::store {
namespace fs = std::filesystem;
namespace {

constexpr const char* kFiles[] = {"run.json", "trials.jsonl", "events.jsonl", "trials.csv", "README.md"};
constexpr const char* kPrograms = "programs";

Error cannot_place(const fs::path& path, const std::error_code& error) {
  return fail(error == std::errc::no_space_on_device ? Code::disk_full : Code::io_error,
              fmt::format("cannot put {} in place: {}", path.string(), error.message()));
}

template <typename T>
std::string lines_of(const std::vector<T>& records) {
  std::string out;
  for (const T& record : records) out += to_json(record).dump() + "\n";
  return out;
}

// Programs of trials by number, and of proposals without a result.
std::map<int, std::string> programs_of(const LoadedRun& loaded) {
  std::map<int, std::string> out;
  for (const StoredEvent& stored : loaded.events) {
    if (stored.event.kind == search::Event::Kind::kProposed && stored.event.proposal)
      out[stored.event.node] = stored.event.proposal->program;
  }
  for (const TrialRecord& trial : loaded.trials) out[trial.number] = trial.program;
  return out;
}

Status write_files(const LoadedRun& loaded, const fs::path& folder) {
  const ExportedRun all = exported(loaded);
  const ExportedFolder head{loaded.run, static_cast<int64_t>(all.trials.size()),
                            static_cast<int64_t>(all.events.size())};
  SOLSTICE_CHECK(make_folder(folder / kPrograms));
  for (const auto& [number, program] : programs_of(loaded))
    SOLSTICE_CHECK(write_file(folder / kPrograms / fmt::format("{}.ucut", number), program));
  SOLSTICE_CHECK(write_file(folder / "trials.jsonl", lines_of(all.trials)));
  SOLSTICE_CHECK(write_file(folder / "events.jsonl", lines_of(all.events)));
  SOLSTICE_CHECK(write_file(folder / "trials.csv", trials_csv(loaded)));
  SOLSTICE_CHECK(write_file(folder / "README.md", export_readme(loaded)));
  return write_file(folder / "run.json", to_json(head).dump(2) + "\n");
}

bool is_ours(const fs::path& name) {
  const bool listed = std::find(std::begin(kFiles), std::end(kFiles), name) != std::end(kFiles);
  const bool program = name.parent_path() == kPrograms && name.extension() == ".ucut";
  return listed || program || name == kPrograms;
}

Result<ExportedFolder> read_head(const fs::path& file) {
  SOLSTICE_TRY(const std::string text, read_file(file));
  SOLSTICE_TRY(const Json json, parse_json(text));
  return from_json<ExportedFolder>(json);
}

// Only an export, and nothing else, may go.
Status check_replaceable(const fs::path& folder) {
  if (const Result<ExportedFolder> head = read_head(folder / "run.json"); !head.ok()) {
    return fail(Code::bad_argument, fmt::format("{} is no export, so --force does not replace it: {}", folder.string(),
                                                head.error().message));
  }
  std::error_code error;
  for (fs::recursive_directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    const fs::path name = entry->path().lexically_relative(folder);
    if (!is_ours(name))
      return fail(Code::bad_argument,
                  fmt::format("{} is no file of an export, so {} is not replaced", name.string(), folder.string()),
                  "name another folder, or move that file away");
  }
  return error ? Status(cannot_place(folder, error)) : success();
}

Status check_place(const fs::path& folder, bool force) {
  std::error_code error;
  const fs::file_status there = fs::status(folder, error);
  if (there.type() == fs::file_type::not_found || (fs::is_directory(there) && fs::is_empty(folder, error)))
    return success();
  if (!fs::is_directory(there))
    return fail(Code::bad_argument, fmt::format("{} exists and is not a folder", folder.string()),
                "name another folder");
  if (!force)
    return fail(Code::bad_argument, fmt::format("{} holds files", folder.string()),
                "name another folder, or replace an export with --force");
  return check_replaceable(folder);
}

// A folder next to another, which goes with this object; not what was there before, if it could not be put back.
class Beside {
 public:
  explicit Beside(const fs::path& folder)
      : folder_(folder),
        name_((folder.parent_path() / fmt::format(".{}.XXXXXX", folder.filename().string())).string()) {}
  ~Beside() {
    std::error_code ignored;  // a file that is gone already is fine
    if (!made_) return;
    fs::remove_all(fresh(), ignored);
    if (fs::exists(folder_, ignored)) fs::remove_all(before(), ignored);
    fs::remove(name_, ignored);
  }
  Status make() {
    if (!::mkdtemp(name_.data())) return cannot_place(name_, std::error_code(errno, std::generic_category()));
    made_ = true;
    return success();
  }
  // An older export goes aside for the moment between two renamings; it comes back where the second fails.
  Status place() {
    std::error_code error;
    const bool replaces = fs::exists(folder_, error);
    if (replaces) fs::rename(folder_, before(), error);
    if (!error) fs::rename(fresh(), folder_, error);
    if (!error) return success();
    std::error_code ignored;  // the first error is the one to tell
    if (replaces && !fs::exists(folder_, ignored)) fs::rename(before(), folder_, ignored);
    return cannot_place(folder_, error);
  }
  fs::path fresh() const { return fs::path(name_) / "export"; }

 private:
  fs::path before() const { return fs::path(name_) / "before"; }

  fs::path folder_;
  std::string name_;
  bool made_ = false;
};

}  // namespace

ExportedRun exported(const LoadedRun& loaded) {
  ExportedRun out{loaded.run, loaded.trials, {}};
  for (const StoredEvent& stored : loaded.events)
    out.events.push_back({static_cast<int64_t>(out.events.size()), stored.at, stored.event});
  return out;
}

Status export_folder(const LoadedRun& loaded, const fs::path& folder, bool force) {
  std::error_code error;
  const fs::path absolute = fs::absolute(folder, error);  // "export/" and "." have a name then
  fs::path place = fs::weakly_canonical(absolute, error);
  if (!place.has_filename()) place = place.parent_path();
  if (error) return cannot_place(folder, error);
  SOLSTICE_CHECK(check_place(place, force));
  SOLSTICE_CHECK(make_folder(place.parent_path()));
  Beside beside(place);
  SOLSTICE_CHECK(beside.make());
  SOLSTICE_CHECK(write_files(loaded, beside.fresh()));
  return beside.place();
}

Status export_file(const std::string& content, const fs::path& file, bool force) {
  std::error_code ignored;  // writing reports a path that cannot be inspected
  if (!force && fs::is_regular_file(file, ignored))
    return fail(Code::bad_argument, fmt::format("{} exists", file.string()),
                "name another file, or replace it with --force");
  return write_file(file, content);
}

}  // namespace solstice::store
