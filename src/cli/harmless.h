// Text of a run, which may be a model's words, for a terminal.
#pragma once

#include <string>
#include <string_view>

namespace solstice::cli {

// On one line, and nothing that a terminal would obey: control characters are blanks.
std::string harmless(std::string_view text);

// The same of each line.
std::string harmless_lines(std::string_view text);

}  // namespace solstice::cli
