#include "base/random.h"

#include <gtest/gtest.h>

namespace solstice {
namespace {

// Of the reference implementation (Vigna 2015, splitmix64.c) from this state.
TEST(RandomTest, NumbersAreThoseOfTheReference) {
  SplitMix64 random(1234567);
  EXPECT_EQ(random.next(), 6457827717110365317u);
  EXPECT_EQ(random.next(), 3203168211198807973u);
  EXPECT_EQ(random.next(), 9817491932198370423u);
}

TEST(RandomTest, PartsAndNumbersHaveSeedsOfTheirOwn) {
  EXPECT_NE(seed_of(1, "a", 0), seed_of(1, "b", 0));
  EXPECT_NE(seed_of(1, "a", 0), seed_of(1, "a", 1));
  EXPECT_NE(seed_of(1, "a", 0), seed_of(2, "a", 0));
}

}  // namespace
}  // namespace solstice
