#include "base/toml.h"

#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

#include <algorithm>

namespace solstice {
namespace {

Json leaf(const toml::node& node) {
  if (const auto text = node.value_exact<std::string>()) return Json(*text);
  if (const auto integer = node.value_exact<int64_t>()) return Json(*integer);
  if (const auto real = node.value_exact<double>()) return Json(*real);
  if (const auto boolean = node.value_exact<bool>()) return Json(*boolean);
  return Json();
}

void flatten(const toml::table& table, const std::string& prefix, std::vector<TomlEntry>& out) {
  for (auto&& [key, node] : table) {
    const std::string path = prefix.empty() ? std::string(key.str()) : prefix + "." + std::string(key.str());
    if (const toml::table* inner = node.as_table()) {
      flatten(*inner, path, out);
    } else {
      out.push_back({path, leaf(node), static_cast<int>(key.source().begin.line)});
    }
  }
}

// The parser's own sentence, without the words about itself.
std::string plain(std::string_view description) {
  constexpr std::string_view kAbout = "Error while ";
  if (description.starts_with(kAbout)) description.remove_prefix(kAbout.size());
  return std::string(description);
}

}  // namespace

Result<std::vector<TomlEntry>> parse_toml(std::string_view text, const std::filesystem::path& file, Code code) {
  const toml::parse_result parsed = toml::parse(text, std::string_view(file.native()));
  if (!parsed) {
    const auto& found = parsed.error().source();
    Error error =
        fail(code, "this is not TOML: " + plain(parsed.error().description()), "https://toml.io has its rules");
    error.file = file.string();
    error.line = static_cast<int>(found.begin.line);
    error.column = static_cast<int>(found.begin.column);
    error.width = 1;
    return error;
  }
  std::vector<TomlEntry> entries;
  flatten(parsed.table(), "", entries);
  std::stable_sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.line < b.line; });
  return entries;
}

}  // namespace solstice
