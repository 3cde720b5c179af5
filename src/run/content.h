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

// A batch of repetitions in the order of their launches, each in a slot of its own and each with content of its own: a
// kernel that reads other slots must not find there what it is to compute. With two contents, no two launches in a row
// have the same, across batches of one size too.
std::vector<Turn> turns_of(int slots, int contents, uint64_t batch);

}  // namespace solstice::run
