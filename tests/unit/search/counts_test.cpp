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

}  // namespace
}  // namespace solstice::search
