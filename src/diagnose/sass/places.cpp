#include "diagnose/sass/places.h"

namespace solstice::diagnose::sass {
namespace {

constexpr int kDeepest = 200;  // calls into calls

// Parts that compute what follows from a kernel's main equation, not the equation itself.
bool is_of_results(std::string_view part) { return part == "epilogue" || part == "fold"; }

}  // namespace

void CodePlaces::begin(int place) {
  begin_ = place;
  for (int steps = 0; begin_ >= 0 && steps < kDeepest; ++steps) {
    const int around = listing_.places[static_cast<size_t>(begin_)].inlined_at;
    if (around < 0) break;
    begin_ = around;
  }
  known_.clear();
}

int CodePlaces::of(int place) {
  if (place < 0 || text_.file.empty()) return -1;
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

CodePlace CodePlaces::read(int innermost) const {
  CodePlace out;
  bool is_ours = false;
  int steps = 0;
  for (int i = innermost; i >= 0 && steps < kDeepest; ++steps) {
    const Place& frame = listing_.places[static_cast<size_t>(i)];
    is_ours |= read_frame(frame, out);
    i = frame.inlined_at;
  }
  // A function of a header that was not inlined: its caller is not told.
  if (!is_ours && begin_ >= 0) read_frame(listing_.places[static_cast<size_t>(begin_)], out);
  return out;
}

bool CodePlaces::read_frame(const Place& frame, CodePlace& out) const {
  const std::string_view name = frame.file.substr(frame.file.rfind('/') + 1);  // npos + 1 is 0
  if (name != text_.file) {
    if (out.part.empty()) out.part = std::string(marks_.at(frame.file, frame.line));
    return false;
  }
  if (text_.lines.empty()) {
    if (out.line == 0) out.file = std::string(name), out.line = frame.line;
    return true;
  }
  if (frame.line < 1 || static_cast<size_t>(frame.line) > text_.lines.size()) return true;
  const SourceLine& line = text_.lines[static_cast<size_t>(frame.line) - 1];
  const bool of_results = line.results > 0 && is_of_results(out.part);
  if (out.number == 0) out.number = of_results ? line.results : line.equation;
  if (out.part.empty()) out.part = line.part;
  return true;
}

}  // namespace solstice::diagnose::sass
