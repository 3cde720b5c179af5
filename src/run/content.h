// In which slot what content is timed next. A kernel that keeps a result must find other values at its next launch, and
// other values at every address from one batch to the next.
#pragma once

#include <cstdint>
#include <vector>

namespace solstice::run {

struct Turn {
  int slot = 0;
  int content = 0;
};

// A batch of repetitions, one a slot, in the order of their launches. With two contents, no two launches in a
// row have the same, across batches of one size too, and no slot keeps its content.
std::vector<Turn> turns_of(int slots, int contents, uint64_t batch);

}  // namespace solstice::run
