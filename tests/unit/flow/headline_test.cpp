#include "flow/headline.h"

#include <gtest/gtest.h>

namespace solstice::flow {
namespace {

ClockReading reading(int mhz, std::optional<int64_t> throttle = 0) {
  ClockReading out;
  out.sm_mhz = mhz;
  out.throttle = throttle;
  return out;
}

TEST(HeadlineClocks, AlikeIsNoObjection) {
  HeadlineClocks clocks;
  clocks.add(0, reading(1500, 0x4));  // power capping does not count against it
  clocks.add(1, reading(1530));
  EXPECT_EQ(clocks.objection(), "");
  EXPECT_EQ(clocks.unknown(), "");
  EXPECT_DOUBLE_EQ(clocks.mean(1).value, 1.53e9);
}

TEST(HeadlineClocks, DifferentOnesAreDiscounted) {
  HeadlineClocks clocks;
  clocks.add(0, reading(1500));
  clocks.add(1, reading(1600));
  EXPECT_EQ(clocks.objection(), "");
  EXPECT_DOUBLE_EQ(clocks.ratio(), 1600.0 / 1500);
  EXPECT_EQ(clocks.difference(3.2), "the original ran at 1500 MHz, the drop-in at 1600 MHz: of 3.2x, at least 3x do not come from the clock");
  HeadlineClocks slower;  // where the drop-in ran slower, nothing is taken off
  slower.add(0, reading(1600));
  slower.add(1, reading(1500));
  EXPECT_NE(slower.difference(2).find("of 2x, at least 2x"), std::string::npos);
}

TEST(HeadlineClocks, SlowdownIsAnObjection) {
  HeadlineClocks hot;
  hot.add(0, reading(1500));
  hot.add(1, reading(1500, 0x20));
  EXPECT_NE(hot.objection().find("software thermal slowdown"), std::string::npos);
}

TEST(HeadlineClocks, UnknownIsSaid) {
  HeadlineClocks clocks;
  EXPECT_NE(clocks.unknown(), "");  // nothing was read at all
  clocks.add(0, reading(1500));
  clocks.add(1, reading(0, std::nullopt));
  EXPECT_EQ(clocks.objection(), "");
  EXPECT_NE(clocks.unknown().find("1 of 2 blocks"), std::string::npos);
}

TEST(Disagreement, NamesMediansAndTheSide) {
  Timing judge;
  judge.baseline = Seconds(1e-3);
  judge.candidate = Seconds(5e-4);
  judge.speedup = 2;
  OracleComparison headline;
  headline.medians = {1.01e-3, 6e-4};
  headline.speedup = 1.01e-3 / 6e-4;
  EXPECT_EQ(disagreement(judge, headline),
            "the judge has 1 ms for the original and 500 us for the kernels (2x), Python has 1.01 ms for `Model.forward` and 600 us for "
            "`ModelNew.forward` (1.68x). It is the replacement that differs most, by +20.0 % in Python, the other by +1.0 %");
  headline.medians = {1e-3, 5.1e-4};
  headline.speedup = 1e-3 / 5.1e-4;
  EXPECT_EQ(disagreement(judge, headline), "");
}

}  // namespace
}  // namespace solstice::flow
