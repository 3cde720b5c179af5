#include "agents/repeats.h"

#include <fmt/format.h>

#include <algorithm>
#include <regex>
#include <sstream>
#include <vector>

namespace solstice::agents {
namespace {

struct Entry {
  std::string text, message;
  int repeats = 0;
};

void add_entry(std::vector<Entry>& entries, const std::string& line, const std::string& message) {
  const auto same = std::find_if(entries.begin(), entries.end(), [&](const Entry& entry) { return entry.message == message; });
  if (same == entries.end())
    entries.push_back({line + "\n", message});
  else
    ++same->repeats;
}

}  // namespace

std::string without_repeats(const std::string& diagnostics) {
  static const std::regex kPlace("^[^: ]+:[0-9]+:[0-9]+: ");
  std::vector<Entry> entries;
  bool kept = true;  // what belongs to a repeat goes with it
  std::istringstream lines(diagnostics);
  for (std::string line; std::getline(lines, line);) {
    std::smatch place;
    if (std::regex_search(line, place, kPlace)) {
      const size_t before = entries.size();
      add_entry(entries, line, place.suffix().str());
      kept = entries.size() > before;
    } else if (entries.empty()) {
      entries.push_back({line + "\n", ""});
    } else if (kept) {
      entries.back().text += line + "\n";
    }
  }
  std::string out;
  for (const Entry& entry : entries) out += entry.text + (entry.repeats > 0 ? fmt::format("({} more like it)\n", entry.repeats) : "");
  return out;
}

}  // namespace solstice::agents
