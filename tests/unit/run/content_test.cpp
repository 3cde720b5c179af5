#include "run/content.h"

#include <gtest/gtest.h>

#include <set>

namespace solstice::run {
namespace {

TEST(Content, NoTwoLaunchesInARowHaveTheSame) {
  for (int slots = 1; slots <= 4; ++slots) {
    int last = -1;
    for (uint64_t batch = 0; batch < 12; ++batch) {
      for (const Turn& turn : turns_of(slots, 2, batch)) {
        EXPECT_NE(turn.content, last) << slots << " slots, batch " << batch;
        last = turn.content;
      }
    }
  }
}

TEST(Content, EverySlotIsUsedOnceAndChangesFromBatchToBatch) {
  for (uint64_t batch = 0; batch < 6; ++batch) {
    std::set<int> used;
    for (const Turn& turn : turns_of(4, 2, batch)) {
      used.insert(turn.slot);
      for (const Turn& next : turns_of(4, 2, batch + 1)) {
        EXPECT_TRUE(next.slot != turn.slot || next.content != turn.content);
      }
    }
    EXPECT_EQ(used.size(), 4u);
  }
}

TEST(Content, OneCaseIsAllThereIs) {
  for (const Turn& turn : turns_of(4, 1, 3)) EXPECT_EQ(turn.content, 0);
}

}  // namespace
}  // namespace solstice::run
