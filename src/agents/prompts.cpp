#include "agents/prompts.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "agents/count.h"
#include "base/file.h"
#include "base/paths.h"
#include "llm/ledger.h"

namespace solstice::agents {
namespace {

constexpr std::string_view kMost = "<!-- at most ", kMostEnd = " tokens -->";
constexpr std::string_view kOpen = "{{", kClose = "}}", kFence = "```";

// Takes "<!-- at most 3000 tokens -->" off the text; 0 where there is none.
Result<int64_t> take_limit(std::string& text) {
  if (!text.starts_with(kMost)) return 0;
  const size_t line = std::min(text.find('\n'), text.size());
  const std::string_view first = std::string_view(text).substr(0, line);
  int64_t most = 0;
  const auto [end, error] = std::from_chars(first.data() + kMost.size(), first.data() + first.size(), most);
  if (error != std::errc() || most <= 0 || std::string_view(end, first.data() + first.size()) != kMostEnd) {
    return fail(Code::bad_argument, fmt::format("`{}` is no limit: `{}3000{}`", first, kMost, kMostEnd));
  }
  text.erase(0, std::min(line + 1, text.size()));
  return most;
}

// Placeholders are replaced in the template alone: what is filled in may hold braces.
Result<std::string> fill(std::string_view text, const Prompts::Values& values, std::string_view section) {
  std::string out;
  std::set<std::string, std::less<>> used;
  while (true) {
    const size_t open = text.find(kOpen);
    out += text.substr(0, open);
    if (open == text.npos) break;
    const size_t close = text.find(kClose, open);
    const std::string_view name = text.substr(open + kOpen.size(), close - open - kOpen.size());
    const auto value = values.find(name);
    if (value == values.end())
      return fail(Code::internal, fmt::format("section `{}` has `{}`, which nobody fills in", section, name));
    used.insert(value->first);
    out += value->second;
    text.remove_prefix(close + kClose.size());
    if (text.starts_with('\n') && out.ends_with('\n')) out.pop_back();  // a line ends once
  }
  for (const auto& [name, value] : values) {
    if (!used.count(name))
      return fail(Code::internal, fmt::format("section `{}` has no place for `{}`", section, name));
  }
  return out;
}

Status check_placeholders(std::string_view text) {
  for (size_t at = text.find(kOpen); at != text.npos; at = text.find(kOpen, at)) {
    const size_t close = text.find(kClose, at);
    const std::string_view name = text.substr(at + kOpen.size(), close == text.npos ? 20 : close - at - kOpen.size());
    const bool word = !name.empty() &&
                      std::all_of(name.begin(), name.end(), [](char c) { return c == '_' || (c >= 'a' && c <= 'z'); });
    if (close == text.npos || !word) return fail(Code::bad_argument, fmt::format("`{{{{{}` is no placeholder", name));
    at = close + kClose.size();
  }
  return success();
}

}  // namespace

std::string cut_to(const std::string& text, int64_t tokens) {
  if (llm::estimated_tokens(text) <= tokens) return text;
  const size_t end =
      text.rfind('\n', static_cast<size_t>(std::max<int64_t>(0, tokens * int64_t{llm::kBytesAToken} - 1)));
  std::string kept = end == text.npos ? "" : text.substr(0, end + 1);
  const std::string_view rest = std::string_view(text).substr(kept.size());
  const size_t lines = count_of(rest, "\n") + (rest.ends_with('\n') ? 0 : 1);
  kept += fmt::format("... ({} more line{} left out)\n", lines, lines == 1 ? "" : "s");
  if (count_of(kept, kFence) % 2 == 1) kept += fmt::format("{}\n", kFence);
  return kept;
}

Result<Prompts> Prompts::load() {
  SOLSTICE_TRY(const std::filesystem::path folder, data_folder("prompts"));
  return load(folder);
}

Result<Prompts> Prompts::load(const std::filesystem::path& folder) {
  Prompts out;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().extension() != ".md" || entry.path().filename() == "README.md") continue;
    Section section;
    SOLSTICE_TRY(section.text, read_file(entry.path()));
    const std::string where = "in " + entry.path().string();
    SOLSTICE_TRY(section.most, take_limit(section.text).context(where));
    SOLSTICE_CHECK(check_placeholders(section.text).context(where));
    out.sections_[entry.path().stem().string()] = std::move(section);
  }
  if (error) return fail(Code::io_error, fmt::format("cannot list {}: {}", folder.string(), error.message()));
  return out;
}

Result<std::string> Prompts::section(std::string_view name, const Values& values) const {
  const auto found = sections_.find(name);
  if (found == sections_.end()) return fail(Code::not_found, fmt::format("prompts/{}.md is missing", name));
  SOLSTICE_TRY(std::string text, fill(found->second.text, values, name));
  if (!text.ends_with('\n')) text += '\n';
  return found->second.most > 0 ? cut_to(text, found->second.most) : text;
}

}  // namespace solstice::agents
