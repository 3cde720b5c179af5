// The place in a kernel's text that an instruction was made of: equation and part of generated code, line of given
// code. It follows from the calls on the way to the instruction, which line tables of a profile build tell
// (docs/machine-code.md).
//
// Lines of generated code are named "NUMBER>RESULTS|PART|SOURCE" there (families/lined.h): the number of the equation
// in its kernel, that of what its epilogue computes, and the part. The innermost that is said counts, of each.
#pragma once

#include <map>
#include <string_view>
#include <vector>

#include "diagnose/sass/instruction.h"
#include "diagnose/sass/parts.h"
#include "record/sass_facts.h"

namespace solstice::diagnose::sass {

class CodePlaces {
 public:
  // `source`: "up.cu", whose lines count; "": none do. All outlive it.
  CodePlaces(const Listing& listing, std::string_view source, PartMarks& marks)
      : listing_(listing), source_(source), marks_(marks) {}

  // Of an index of Listing::places: an index of list(), -1 where nothing is known.
  int of(int place);
  // In the order in which they were first asked for; further ones than kMostPlaces are not known.
  const std::vector<CodePlace>& list() const { return list_; }

  static constexpr size_t kMostPlaces = 1000;

 private:
  CodePlace read(int innermost);
  void read_frame(const Place& frame, CodePlace& out);

  const Listing& listing_;
  std::string_view source_;
  PartMarks& marks_;
  std::map<int, int> known_;  // by index of Listing::places
  std::map<std::tuple<std::string, int, int>, int> indices_;
  std::vector<CodePlace> list_;
};

}  // namespace solstice::diagnose::sass
