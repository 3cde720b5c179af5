#include "flow/bench/problems.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/file.h"

namespace solstice::flow {
namespace fs = std::filesystem;
namespace {

std::optional<int> leading_int(std::string_view text) {
  int value = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() ? std::optional(value) : std::nullopt;
}

struct Found {
  int level;
  int number;
  BenchProblem problem;
};

Error unlisted(const fs::path& folder, const std::error_code& error) {
  return fail(Code::not_found, fmt::format("cannot list {}: {}", folder.string(), error.message()), file_meant(folder));
}

Status list_level(const fs::path& folder, int level, std::vector<Found>& out) {
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const fs::directory_entry& entry = *at;
    const std::string stem = entry.path().stem().string();
    const std::optional<int> number = leading_int(stem);
    const size_t underscore = stem.find('_');
    if (entry.path().extension() != ".py" || !number || underscore == std::string::npos) continue;
    out.push_back({level, *number, {fmt::format("{}/{}", level, *number), stem.substr(underscore + 1), entry.path()}});
  }
  if (error) return fail(Code::io_error, fmt::format("cannot list {}: {}", folder.string(), error.message()));
  return success();
}

// `"""A gated MLP: 4096 tokens."""` without its quotes; "" where there is none.
std::string first_docstring_line(const std::string& text) {
  constexpr std::string_view kQuotes = "\"\"\"";
  if (!text.starts_with(kQuotes)) return "";
  const std::string line = text.substr(kQuotes.size(), text.find('\n') - kQuotes.size());
  return line.substr(0, line.find(kQuotes));
}

Status check_chosen(const std::vector<BenchProblem>& found, const std::vector<std::string>& only,
                    const fs::path& folder) {
  for (const std::string& id : only) {
    const bool there = std::any_of(found.begin(), found.end(), [&](const BenchProblem& p) { return p.id == id; });
    if (!there) return fail(Code::not_found, fmt::format("{} holds no `{}`", folder.string(), id));
  }
  return success();
}

}  // namespace

Result<std::vector<BenchProblem>> list_modules(const fs::path& folder, const std::vector<std::string>& only) {
  std::vector<BenchProblem> found;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    if (at->path().extension() != ".py") continue;
    SOLSTICE_TRY(const std::string text, read_file(at->path()));
    if (text.find("def get_inputs(") == std::string::npos) continue;
    found.push_back({at->path().stem().string(), first_docstring_line(text), at->path()});
  }
  if (error) return unlisted(folder, error);
  SOLSTICE_CHECK(check_chosen(found, only, folder));
  std::erase_if(found, [&](const BenchProblem& p) {
    return !only.empty() && std::find(only.begin(), only.end(), p.id) == only.end();
  });
  std::sort(found.begin(), found.end(), [](const BenchProblem& a, const BenchProblem& b) { return a.id < b.id; });
  if (found.empty())
    return fail(Code::not_found, fmt::format("{} holds no module with a `get_inputs`", folder.string()),
                "name a folder of files FILE.py that define `get_inputs()`");
  return found;
}

Result<std::vector<BenchProblem>> list_problems(const fs::path& folder, const std::vector<int>& levels,
                                                const std::vector<std::string>& only) {
  std::vector<Found> found;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    const std::optional<int> level = name.starts_with("level") ? leading_int(name.substr(5)) : std::nullopt;
    if (level && (levels.empty() || std::find(levels.begin(), levels.end(), *level) != levels.end())) {
      SOLSTICE_CHECK(list_level(entry.path(), *level, found));
    }
  }
  if (error) return unlisted(folder, error);
  std::sort(found.begin(), found.end(),
            [](const Found& a, const Found& b) { return std::pair(a.level, a.number) < std::pair(b.level, b.number); });
  std::vector<BenchProblem> problems;
  for (const std::string& id : only) {
    const bool there = std::any_of(found.begin(), found.end(), [&](const Found& f) { return f.problem.id == id; });
    if (!there)
      return fail(Code::not_found, fmt::format("{} holds no problem {} of the chosen levels", folder.string(), id));
  }
  for (Found& f : found) {
    const bool chosen = only.empty() || std::find(only.begin(), only.end(), f.problem.id) != only.end();
    if (chosen) problems.push_back(std::move(f.problem));
  }
  if (problems.empty()) {
    return fail(Code::not_found, fmt::format("{} holds no problems", folder.string()),
                "expected are level1/1_NAME.py and so on");
  }
  return problems;
}

}  // namespace solstice::flow
