#include "run/content.h"

#include <algorithm>

namespace solstice::run {

std::vector<Turn> turns_of(int slots, int contents, uint64_t batch) {
  const int turns = std::min(slots, contents);
  const auto rotated = [batch](int i, uint64_t by, int of) {
    return static_cast<int>((static_cast<uint64_t>(i) + by * batch) % static_cast<uint64_t>(of));
  };
  std::vector<Turn> out;
  for (int i = 0; i < turns; ++i)
    out.push_back({rotated(i, static_cast<uint64_t>(turns), slots), rotated(i, 1, contents)});
  // Forwards, the next batch would begin with what this one ends with.
  if (batch % 2 == 1) std::reverse(out.begin(), out.end());
  return out;
}

}  // namespace solstice::run
