#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/file.h"
#include "store/exported.h"

namespace solstice::store {
namespace fs = std::filesystem;
namespace {

constexpr const char* kWritten = "`solstice export RUN PATH` writes what is read here";

template <typename T>
Result<std::vector<T>> read_lines(const fs::path& file, int64_t count) {
  SOLSTICE_TRY(const std::string text, read_file(file));
  std::vector<T> out;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = std::string_view(text).substr(begin, end - begin);
    SOLSTICE_TRY(T record, from_json_file<T>(line, file, kWritten, static_cast<int>(out.size()) + 1));
    out.push_back(std::move(record));
    begin = end + 1;
  }
  if (static_cast<int64_t>(out.size()) == count) return out;
  return fail(Code::bad_record, fmt::format("{} has {} lines, run.json says {}", file.string(), out.size(), count));
}

Result<ExportedRun> read_folder(const fs::path& folder) {
  SOLSTICE_TRY(const std::string text, read_file(folder / "run.json"));
  SOLSTICE_TRY(ExportedFolder head, from_json_file<ExportedFolder>(text, folder / "run.json", kWritten));
  ExportedRun out;
  out.run = std::move(head.run);
  SOLSTICE_TRY(out.trials, read_lines<TrialRecord>(folder / "trials.jsonl", head.trials));
  SOLSTICE_TRY(out.events, read_lines<ExportedEvent>(folder / "events.jsonl", head.events));
  return out;
}

Result<ExportedRun> read_whole(const fs::path& file) {
  SOLSTICE_TRY(const std::string text, read_file(file));
  return from_json_file<ExportedRun>(text, file, kWritten);
}

// True for ids as the store makes them; "last" is a reserved word.
bool is_run_id(const std::string& id) {
  const auto legal = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c == '-'; };
  return id.size() >= 8 && id.size() <= 64 && std::all_of(id.begin(), id.end(), legal);
}

Status check_whole(const ExportedRun& all) {
  const auto wrong = [](const std::string& what, const char* hint = "") { return fail(Code::bad_record, what, hint); };
  if (!is_run_id(all.run.id)) return wrong(fmt::format("`{}` is no id of a run", all.run.id));
  if (all.run.state == RunState::kRunning)
    return wrong(fmt::format("run {} had not ended when it was exported", all.run.id), "export it again when it has");
  std::set<int> numbers;
  for (const TrialRecord& trial : all.trials) {
    if (trial.run != all.run.id)
      return wrong(fmt::format("trial {} belongs to run `{}`, not {}", trial.number, trial.run, all.run.id));
    if (!numbers.insert(trial.number).second) return wrong(fmt::format("trial {} occurs twice", trial.number));
  }
  for (size_t i = 0; i < all.events.size(); ++i) {
    if (all.events[i].number != static_cast<int64_t>(i)) return wrong(fmt::format("event {} is missing", i));
  }
  return success();
}

}  // namespace

Result<LoadedRun> read_exported(const fs::path& path) {
  std::error_code ignored;  // opening it will tell
  SOLSTICE_TRY(ExportedRun all, fs::is_directory(path, ignored) ? read_folder(path) : read_whole(path));
  SOLSTICE_CHECK(check_whole(all).context(path.string()));
  LoadedRun out{std::move(all.run), std::move(all.trials)};
  for (ExportedEvent& event : all.events) out.events.push_back({std::move(event.event), std::move(event.at)});
  return out;
}

}  // namespace solstice::store
