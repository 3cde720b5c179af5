#include "run/content.h"

#include <algorithm>

namespace solstice::run {

std::vector<Turn> turns_of(int slots, int contents, uint64_t batch) {
  std::vector<Turn> out;
  for (int slot = 0; slot < slots; ++slot) {
    out.push_back({slot, static_cast<int>((static_cast<uint64_t>(slot) + batch) % static_cast<uint64_t>(contents))});
  }
  // Forwards, the next batch would begin with what this one ends with.
  if (batch % 2 == 1) std::reverse(out.begin(), out.end());
  return out;
}

}  // namespace solstice::run
