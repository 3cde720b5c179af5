// Differences between two texts, by line, for people and prompts.
#pragma once

#include <string>
#include <string_view>

namespace solstice {

// The hunks of a unified diff, with `context` unchanged lines around each change, as `diff -U` writes them behind its
// two lines of file names; "" where the texts are equal, byte for byte. The fewest lines change, except where the parts
// that differ have more than 16 million pairs of lines (4000 by 4000): such a part is replaced as a whole.
// Deterministic; removed lines come before added ones.
std::string line_diff(std::string_view before, std::string_view after, int context = 2);

}  // namespace solstice
