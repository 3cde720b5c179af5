#include "search/random.h"

#include <gtest/gtest.h>

namespace solstice::search {
namespace {

// Recorded runs and tables of docs/measured/search.md were made with these streams.
TEST(RandomStreams, AreTheSameForEver) {
  Random random(5, "far_needle", 3);
  EXPECT_EQ(random.next(), 17968465722566846474u);
  EXPECT_EQ(random.next(), 17826391764866528230u);
  EXPECT_EQ(Random(5, "far_needle").next(), 15018720315688255302u);
}

}  // namespace
}  // namespace solstice::search
