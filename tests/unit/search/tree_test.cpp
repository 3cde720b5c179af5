#include "search/tree.h"

#include <gtest/gtest.h>

namespace solstice::search {
namespace {

Measurement verified(double seconds) {
  Measurement out;
  out.state = TrialState::kVerified;
  out.time = Seconds(seconds);
  return out;
}

TEST(Tree, NeverHoldsTheSameProgramTwice) {
  Tree tree;
  EXPECT_NE(tree.add({.program = "a"}), nullptr);
  EXPECT_EQ(tree.add({.program = "a"}), nullptr);
  tree.skip({.program = "b"});
  EXPECT_TRUE(tree.contains("b"));
  EXPECT_EQ(tree.add({.program = "b"}), nullptr);
  EXPECT_EQ(tree.trials(), 1);
}

TEST(Tree, TheProblemIsNodeZero) {
  const Tree tree(Seconds(3));
  EXPECT_EQ(tree.trials(), 0);
  EXPECT_EQ(tree.best(), nullptr) << "the original is no candidate";
  EXPECT_TRUE(tree.node(0).open());
  EXPECT_EQ(tree.speedup(tree.node(0)), 1);
}

TEST(Tree, AResultCountsOnce) {
  Tree tree(Seconds(3));
  tree.add({.program = "a"});
  tree.complete(1, verified(2));
  tree.complete(1, verified(1));
  EXPECT_EQ(tree.best()->measurement->time, Seconds(2));
  tree.again(1, Precision::kPrecise);
  tree.again(1, Precision::kRough);  // under way already
  EXPECT_EQ(tree.in_flight(), 1);
  tree.complete(1, verified(1.5));
  EXPECT_EQ(tree.best()->measurement->time, Seconds(1.5));
  EXPECT_EQ(tree.node(1).precision, Precision::kPrecise);
  EXPECT_EQ(tree.in_flight(), 0);
  EXPECT_EQ(tree.events().size(), 5u);
}

// A run that began without a GPU, or batches that went to several machines.
TEST(Tree, PredictionsAreNoRivalsOfWhatWasMeasured) {
  Tree tree(Seconds(3));
  Measurement predicted = verified(1);
  predicted.state = TrialState::kPredicted;
  tree.add({.program = "a"});
  tree.complete(1, predicted);
  EXPECT_EQ(tree.best()->id, 1);
  tree.add({.program = "b"});
  tree.complete(2, verified(2));
  EXPECT_EQ(tree.best()->id, 2);
  tree.add({.program = "c"});
  tree.complete(3, predicted);
  EXPECT_EQ(tree.best()->id, 2);
  EXPECT_FALSE(tree.comparable(tree.node(3)));
  EXPECT_TRUE(tree.comparable(tree.node(0)));
}

TEST(Tree, EventsThatDoNotFitAreRefused) {
  Tree tree;
  EXPECT_FALSE(tree.apply({.kind = Event::Kind::kMeasured, .node = 1, .measurement = verified(1)}).ok());
  EXPECT_FALSE(tree.apply({.kind = Event::Kind::kProposed, .node = 1}).ok());
  EXPECT_FALSE(
      tree.apply({.kind = Event::Kind::kProposed, .node = 1, .proposal = Proposal{.program = "a", .parent = 7}}).ok());
  EXPECT_TRUE(tree.apply({.kind = Event::Kind::kProposed, .node = 1, .proposal = Proposal{.program = "a"}}).ok());
  const Status twice = tree.apply({.kind = Event::Kind::kProposed, .node = 2, .proposal = Proposal{.program = "a"}});
  ASSERT_FALSE(twice.ok());
  EXPECT_NE(twice.error().message.find("event 2 (`proposed` of node 2) does not fit"), std::string::npos)
      << twice.error().message;
}

}  // namespace
}  // namespace solstice::search
