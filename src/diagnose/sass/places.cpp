#include "diagnose/sass/places.h"

#include <algorithm>
#include <charconv>
#include <tuple>

namespace solstice::diagnose::sass {
namespace {

constexpr int kDeepest = 200;  // calls into calls

int leading_number(std::string_view text) {
  int out = 0;
  std::from_chars(text.data(), text.data() + text.size(), out);
  return std::max(out, 0);
}

// Parts that compute what follows from a kernel's main equation, not the equation itself.
bool is_of_results(std::string_view part) { return part == "epilogue" || part == "fold"; }

}  // namespace

int CodePlaces::of(int place) {
  if (place < 0 || source_.empty()) return -1;
  if (const auto found = known_.find(place); found != known_.end()) return found->second;
  CodePlace at = read(place);
  int index = -1;
  if (!at.part.empty() || at.number > 0 || at.line > 0) {
    const auto [entry, is_new] = indices_.try_emplace({at.part, at.number, at.line}, static_cast<int>(list_.size()));
    if (is_new && list_.size() < kMostPlaces) list_.push_back(std::move(at));
    if (static_cast<size_t>(entry->second) < list_.size()) index = entry->second;
  }
  known_.emplace(place, index);
  return index;
}

CodePlace CodePlaces::read(int innermost) {
  CodePlace out;
  int steps = 0;
  for (int i = innermost; i >= 0 && steps < kDeepest; ++steps) {
    const Place& frame = listing_.places[static_cast<size_t>(i)];
    read_frame(frame, out);
    i = frame.inlined_at;
  }
  return out;
}

void CodePlaces::read_frame(const Place& frame, CodePlace& out) {
  const std::string_view name = frame.file.substr(frame.file.rfind('/') + 1);  // npos + 1 is 0
  if (name == source_) {
    if (out.line == 0) out.file = std::string(name), out.line = frame.line;
    return;
  }
  const size_t first = name.find('|'), last = name.rfind('|');
  if (first == std::string_view::npos || name.substr(last + 1) != source_) {
    if (out.part.empty()) out.part = std::string(marks_.at(frame.file, frame.line));
    return;
  }
  const std::string_view numbers = name.substr(0, first);
  const size_t results = numbers.find('>');
  const bool of_results = results != std::string_view::npos && is_of_results(out.part);
  if (out.number == 0) out.number = leading_number(of_results ? numbers.substr(results + 1) : numbers);
  if (out.part.empty() && last > first) out.part = std::string(name.substr(first + 1, last - first - 1));
}

}  // namespace solstice::diagnose::sass
