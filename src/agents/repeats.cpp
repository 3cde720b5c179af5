#include "agents/repeats.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <string_view>
#include <vector>

namespace solstice::agents {
namespace {

struct Entry {
  std::string text, message;
  int repeats = 0;
};

bool is_number(std::string_view text) { return !text.empty() && text.find_first_not_of("0123456789") == text.npos; }

// Behind "FILE:LINE:COLUMN: "; nothing where the line does not begin so.
std::string_view message_of(std::string_view line) {
  const size_t file = line.find(':'), row = line.find(':', file + 1), column = line.find(": ", row + 1);
  if (file == line.npos || row == line.npos || column == line.npos || line.substr(0, file).find(' ') != line.npos)
    return {};
  const bool place =
      is_number(line.substr(file + 1, row - file - 1)) && is_number(line.substr(row + 1, column - row - 1));
  return place ? line.substr(column + 2) : std::string_view();
}

}  // namespace

std::string without_repeats(const std::string& diagnostics) {
  std::vector<Entry> entries;
  bool repeat = false;  // indented lines belong to the line above
  std::istringstream lines(diagnostics);
  for (std::string line; std::getline(lines, line);) {
    const std::string_view message = message_of(line);
    if (!message.empty()) {
      const auto same =
          std::find_if(entries.begin(), entries.end(), [&](const Entry& entry) { return entry.message == message; });
      repeat = same != entries.end();
      if (repeat)
        ++same->repeats;
      else
        entries.push_back({line + "\n", std::string(message)});
    } else if (entries.empty() || (repeat && !line.starts_with(' '))) {
      entries.push_back({line + "\n", ""});
      repeat = false;
    } else if (!repeat) {
      entries.back().text += line + "\n";
    }
  }
  std::string out;
  for (const Entry& entry : entries)
    out += entry.text + (entry.repeats > 0 ? fmt::format("({} more like it)\n", entry.repeats) : "");
  return out;
}

}  // namespace solstice::agents
