#include "flow/run/stages/finals/next_finalists.h"

#include <gtest/gtest.h>

namespace solstice::flow {
namespace {

using Ids = std::vector<int>;

class FinalistsTest : public ::testing::Test {
 protected:
  search::Tree tree_;
  void add(const std::string& equations, double seconds, TrialState works = TrialState::kVerified,
           const std::string& setting = "") {
    search::Proposal proposal;
    if (!setting.empty()) proposal.settings = {setting};
    proposal.program = std::to_string(tree_.nodes().size());
    proposal.equations = equations;
    const int id = tree_.add(std::move(proposal))->id;
    search::Measurement m;
    m.state = seconds > 0 ? works : TrialState::kWrong;
    m.time = Seconds(seconds);
    tree_.complete(id, m);
  }
};

TEST_F(FinalistsTest, TheFastestAndThoseWithinFivePercent) {
  for (const double seconds : {1.04, 0.0, 1.0, 1.2, 1.03, 1.01}) add("", seconds);
  EXPECT_EQ(next_finalists(tree_, {}, Seconds(0)), (Ids{3, 6, 5}));
  EXPECT_EQ(next_finalists(tree_, {3, 6, 5}, Seconds(0)), (Ids{1}));
  EXPECT_EQ(next_finalists(tree_, {3, 6, 5, 1}, Seconds(0)), (Ids{4}));
  EXPECT_EQ(next_finalists(tree_, {3, 6, 5, 1}, Seconds(1.1)), Ids{});
  EXPECT_EQ(next_finalists(search::Tree(), {}, Seconds(0)), Ids{});
}

TEST_F(FinalistsTest, OtherEquationsComeBeforeMoreOfWhatWasRefused) {
  for (const double seconds : {1.0, 1.01, 1.3}) add("rewritten", seconds);
  add("", 10);
  EXPECT_EQ(next_finalists(tree_, {}, Seconds(0)), (Ids{1, 2}));
  EXPECT_EQ(next_finalists(tree_, {1, 2}, Seconds(0)), (Ids{4}));
  EXPECT_EQ(next_finalists(tree_, {1, 2, 4}, Seconds(0)), (Ids{3}));
}

TEST_F(FinalistsTest, OtherArithmeticComesBeforeMoreOfWhatWasRefused) {
  const char* const kSettings[] = {"a gemm(math=fp16x3, tile=128x256x64)", "a gemm(math=fp16x3, tile=128x128x64)",
                                   "a gemm(tile=128x128x64, math=bf16x6)"};
  for (int i = 0; i < 3; ++i) add("", 1 + 0.1 * i, TrialState::kVerified, kSettings[i]);
  EXPECT_EQ(next_finalists(tree_, {}, Seconds(0)), (Ids{1}));
  EXPECT_EQ(next_finalists(tree_, {1}, Seconds(0)), (Ids{3}));
  EXPECT_FALSE(is_like_refused(tree_, 3, {1}));
  EXPECT_TRUE(is_like_refused(tree_, 2, {1}));
}

// A run that began without a GPU and goes on with one has both.
TEST_F(FinalistsTest, WhatWasMeasuredComesBeforePredictions) {
  add("", 0.9, TrialState::kPredicted);
  add("", 0.95, TrialState::kPredicted);
  EXPECT_EQ(next_finalists(tree_, {}, Seconds(0)), (Ids{1}));
  add("", 1.2);
  add("", 1.21);
  EXPECT_EQ(next_finalists(tree_, {}, Seconds(0)), (Ids{3, 4}));
  EXPECT_EQ(next_finalists(tree_, {3}, Seconds(0)), (Ids{4}));
  EXPECT_EQ(next_finalists(tree_, {3, 4}, Seconds(0)), (Ids{1}));
}

TEST_F(FinalistsTest, SixRefusalsAreEnough) {
  for (int i = 0; i < 8; ++i) add("", 1);
  EXPECT_EQ(next_finalists(tree_, {1, 2, 3, 4, 5}, Seconds(0)), (Ids{6, 7, 8}));
  EXPECT_EQ(next_finalists(tree_, {1, 2, 3, 4, 5, 6}, Seconds(0)), Ids{});
}

}  // namespace
}  // namespace solstice::flow
