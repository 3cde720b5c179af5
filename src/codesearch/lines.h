// What a cutter of C++ knows of each line: the depth of its braces, and if a declaration ends there.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace solstice::codesearch {

struct Line {
  std::string_view text;
  std::string code;      // without comments, strings empty
  int depth = 0;         // of braces at its beginning, those of namespaces not counted
  int depth_after = 0;   // at its end
  bool comment = false;  // holds a comment and no code
  bool blank = false;
  bool directive = false;  // of the preprocessor, continued lines included
  bool ends = false;       // its last code is `;`, `}`, a namespace's `{` or a directive's end: a declaration may end
};

std::vector<std::string_view> split_lines(std::string_view text);
std::vector<Line> scan_lines(std::string_view text);

}  // namespace solstice::codesearch
