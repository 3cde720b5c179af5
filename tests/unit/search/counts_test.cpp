#include "search/counts.h"

#include <gtest/gtest.h>

namespace solstice::search {
namespace {

TEST(TrialCounts, ANodeIsOneTrialHoweverOftenItWasMeasured) {
  Tree tree;
  const Node* first = tree.add({.program = "a", .reason = "first"});
  ASSERT_NE(first, nullptr);
  const int id = first->id;
  ASSERT_NE(tree.add({.program = "b", .reason = "second"}), nullptr);
  Measurement measured;
  measured.state = TrialState::kVerified;
  measured.time = microseconds(3);
  tree.complete(id, measured);
  tree.complete(id, measured);
  const TrialCounts counts = counts_of(tree);
  EXPECT_EQ(counts.done, 1);
  EXPECT_EQ(counts.without_result, 1);
  EXPECT_EQ(text_of(counts), "1 trial, 1 more without a result");
}

// What a device goes by that measures the rest of a search: as if it had measured all.
TEST(Counts, TheFastestMeasurementIsOfAnyTrial) {
  Tree tree(Seconds(0.001));
  EXPECT_EQ(fastest_measured(tree).value, 0) << "the original is no trial";
  Proposal proposal;
  proposal.program = "a";
  const int a = tree.add(proposal)->id;
  tree.complete(a, {.state = TrialState::kVerified, .time = Seconds(0.004)});
  tree.again(a, Precision::kPrecise);
  tree.complete(a, {.state = TrialState::kVerified, .time = Seconds(0.005)});
  proposal.program = "b";
  tree.complete(tree.add(proposal)->id, {.state = TrialState::kWrong, .time = Seconds(0.001)});
  proposal.program = "c";
  tree.complete(tree.add(proposal)->id, {.state = TrialState::kPredicted, .time = Seconds(0.001)});
  EXPECT_EQ(fastest_measured(tree).value, 0.004);
}

}  // namespace
}  // namespace solstice::search
