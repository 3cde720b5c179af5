// The place in a kernel's text that an instruction was made of: equation and part of generated code, line of given
// code. It follows from the calls on the way to the instruction, which line tables of a profile build tell
// (docs/machine-code.md). The innermost that says an equation counts, and the innermost that says a part.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "diagnose/sass/instruction.h"
#include "diagnose/sass/parts.h"
#include "record/diagnosis/sass_facts.h"
#include "record/source_line.h"

namespace solstice::diagnose::sass {

// A text whose lines count.
struct PlacedText {
  std::string file = {};               // "up.cu", as line tables end with it; "": none counts
  std::vector<SourceLine> lines = {};  // of generated code, one a line; none: it is given code
};

class CodePlaces {
 public:
  // All outlive it.
  CodePlaces(const Listing& listing, const PlacedText& text, PartMarks& marks)
      : listing_(listing), text_(text), marks_(marks) {}

  // The function begins at this index of Listing::places: what no call of the text leads to is of its line.
  void begin(int place);
  // Of an index of Listing::places: an index of list(), -1 where nothing is known.
  int of(int place);
  // In the order in which they were first asked for; further ones than kMostPlaces are not known.
  const std::vector<CodePlace>& list() const { return list_; }

  static constexpr size_t kMostPlaces = 1000;

 private:
  CodePlace read(int innermost) const;
  // True where the frame is of the text.
  bool read_frame(const Place& frame, CodePlace& out) const;

  const Listing& listing_;
  const PlacedText& text_;
  PartMarks& marks_;
  int begin_ = -1;
  std::map<int, int> known_;  // by index of Listing::places
  std::map<std::tuple<std::string, int, int>, int> indices_;
  std::vector<CodePlace> list_;
};

}  // namespace solstice::diagnose::sass
