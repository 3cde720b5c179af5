#include "base/time_text.h"

#include <gtest/gtest.h>

namespace solstice {
namespace {

TEST(TimeText, HasAFittingUnit) {
  EXPECT_EQ(time_text(Seconds(60)), "60 s");
  EXPECT_EQ(time_text(milliseconds(1)), "1 ms");
  EXPECT_EQ(time_text(microseconds(12.346)), "12.35 us");
  EXPECT_EQ(time_text(Seconds(5e-9)), "0.005 us");
}

}  // namespace
}  // namespace solstice
