// The number of occurrences of a text in another.
#pragma once

#include <cstddef>
#include <string_view>

namespace solstice::agents {

// Without overlaps, from the left. `piece` is not empty.
inline size_t count_of(std::string_view text, std::string_view piece) {
  size_t count = 0;
  for (size_t at = text.find(piece); at != text.npos; at = text.find(piece, at + piece.size())) ++count;
  return count;
}

}  // namespace solstice::agents
