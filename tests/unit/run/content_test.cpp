#include "run/content.h"

#include <gtest/gtest.h>

#include <algorithm>
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

TEST(Content, ABatchHasNoContentAndNoSlotTwice) {
  for (int slots = 1; slots <= 4; ++slots) {
    for (int contents = 1; contents <= 4; ++contents) {
      for (uint64_t batch = 0; batch < 6; ++batch) {
        std::set<int> used, seen;
        const std::vector<Turn> turns = turns_of(slots, contents, batch);
        for (const Turn& turn : turns) {
          used.insert(turn.slot);
          seen.insert(turn.content);
        }
        EXPECT_EQ(turns.size(), static_cast<size_t>(std::min(slots, contents)));
        EXPECT_EQ(used.size(), turns.size());
        EXPECT_EQ(seen.size(), turns.size());
      }
    }
  }
}

TEST(Content, ASlotChangesItsContentFromBatchToBatch) {
  for (uint64_t batch = 0; batch < 6; ++batch) {
    for (const Turn& turn : turns_of(2, 2, batch)) {
      for (const Turn& next : turns_of(2, 2, batch + 1))
        EXPECT_TRUE(next.slot != turn.slot || next.content != turn.content);
    }
  }
}

TEST(Content, AllSlotsAreUsedInTurn) {
  for (uint64_t batch = 0; batch < 6; ++batch) EXPECT_EQ(turns_of(2, 1, batch)[0].slot, static_cast<int>(batch % 2));
}

}  // namespace
}  // namespace solstice::run
