// Numbers of things, and lists of names, as text.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <concepts>
#include <string>
#include <string_view>
#include <vector>

namespace solstice {

// "1 trial", "2 trials".
template <std::integral Count>
std::string counted(Count count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

// "`a`, `b` and 9 more": the first `most` of the names, of which there is one at least.
inline std::string first_names(const std::vector<std::string>& names, size_t most) {
  const size_t shown = std::min(names.size(), most);
  const auto end = names.begin() + static_cast<std::ptrdiff_t>(shown);
  const std::string out = fmt::format("`{}`", fmt::join(names.begin(), end, "`, `"));
  return shown == names.size() ? out : fmt::format("{} and {} more", out, names.size() - shown);
}

}  // namespace solstice
