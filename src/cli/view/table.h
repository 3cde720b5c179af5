// Plain text for a terminal: aligned columns, wrapped paragraphs, quantities with a fitting unit.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"

namespace solstice::cli {

// Columns as wide as their widest cell; cells that look like numbers are right-aligned. The first row is the header.
// Control characters in a cell, which others may have written, are blanks (harmless.h).
std::string table(std::vector<std::vector<std::string>> rows);

// Breaks lines at spaces so that none is longer than `width`; continuation lines are indented. Newlines are kept.
std::string wrap(std::string_view text, int width, int indent);

// "  NAME      text", the text wrapped beside the name; ends with a newline.
std::string hanging(std::string_view name, std::string_view text, int column, int width);

std::string show(Seconds time);                         // "12.3 us"
std::string show(Seconds time, bool predicted);         // "predicted 12.3 us" where a cost model says so
std::string show(Bytes bytes);                          // "1.50 GiB"
std::string show_factor(double factor);                 // "4.61x"
std::string clip(std::string_view text, size_t width);  // "..." at the end where it was longer

// Note below figures that no GPU has measured.
inline constexpr const char* kPredictedNote = "times are predicted by cost models, not measured\n";

}  // namespace solstice::cli
