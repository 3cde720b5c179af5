// Marks in generated text: which equation a line is of, and which part of the kernel. A generator writes a mark before
// a statement, `/*@3 store*/`; a family takes them out again (unmark), so that no compiler and no reader sees one. The
// text without marks is what it would be if none had been written.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace solstice::codegen {

// Of equation `equation` of the program, -1: of none; of a part of the kernel, "": of none in particular. "" where
// there is nothing to say. `part` has letters, digits and blanks only.
std::string mark(int equation, std::string_view part = "");

// Each line of the text that says nothing of its own gets the mark.
std::string marked(const std::string& text, int equation, std::string_view part = "");

struct LineMark {
  int equation = -1;
  std::string part = {};
  bool operator==(const LineMark&) const = default;
};

struct Unmarked {
  std::string code;
  std::vector<LineMark> lines;  // one a line of the code; of several marks in a line the first that says so counts
};
Unmarked unmark(std::string_view text);

}  // namespace solstice::codegen
