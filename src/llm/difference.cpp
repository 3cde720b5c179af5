#include "llm/difference.h"

#include <fmt/format.h>

#include <algorithm>

namespace solstice::llm {
namespace {

constexpr size_t kAround = 40;  // bytes before the difference, twice as many behind

std::string excerpt(const std::string& text, size_t at) {
  const size_t begin = at > kAround ? at - kAround : 0;
  return fmt::format("{}{}{}", begin > 0 ? "..." : "", text.substr(begin, 3 * kAround),
                     begin + 3 * kAround < text.size() ? "..." : "");
}

std::string differ(const std::string& path, const std::string& recorded, const std::string& asked) {
  return fmt::format("`{}` was {} and is now {}", path, recorded, asked);
}

std::string in_text(const std::string& recorded, const std::string& asked, const std::string& path) {
  const auto [a, b] = std::mismatch(recorded.begin(), recorded.end(), asked.begin(), asked.end());
  const size_t at = static_cast<size_t>(a - recorded.begin());
  const auto line = 1 + std::count(recorded.begin(), a, '\n');
  return differ(fmt::format("{}, line {}", path, line), Json(excerpt(recorded, at)).dump(),
                Json(excerpt(asked, at)).dump());
}

std::string in_value(const Json& recorded, const Json& asked, const std::string& path);

std::string in_members(const Json& recorded, const Json& asked, const std::string& path) {
  for (const auto& [name, value] : recorded.members()) {
    const Json* other = asked.find(name);
    const std::string found =
        other ? in_value(value, *other, path + "." + name) : differ(path + "." + name, "there", "missing");
    if (!found.empty()) return found;
  }
  for (const auto& [name, value] : asked.members()) {
    if (!recorded.find(name)) return differ(path + "." + name, "missing", "there");
  }
  return "";
}

std::string in_items(const Json& recorded, const Json& asked, const std::string& path) {
  for (size_t i = 0; i < std::min(recorded.size(), asked.size()); ++i) {
    const std::string found = in_value(recorded.at(i), asked.at(i), fmt::format("{}[{}]", path, i));
    if (!found.empty()) return found;
  }
  if (recorded.size() == asked.size()) return "";
  return differ(path, fmt::format("a list of {}", recorded.size()), fmt::format("one of {}", asked.size()));
}

std::string in_value(const Json& recorded, const Json& asked, const std::string& path) {
  if (recorded == asked) return "";
  if (recorded.is_object() && asked.is_object()) return in_members(recorded, asked, path);
  if (recorded.is_array() && asked.is_array()) return in_items(recorded, asked, path);
  if (recorded.is_string() && asked.is_string()) return in_text(recorded.as_string(), asked.as_string(), path);
  return differ(path, excerpt(recorded.dump(), 0), excerpt(asked.dump(), 0));
}

}  // namespace

std::string first_difference(const Json& recorded, const Json& asked) { return in_value(recorded, asked, "$"); }

}  // namespace solstice::llm
