#include "flow/resume.h"

#include <gtest/gtest.h>

namespace solstice::flow {
namespace {

TEST(Resume, AModelThatHasTakenOverGoesOn) {
  search::Tree tree(Seconds(1));
  tree.add({.program = "a", .origin = "expert"});
  search::Measurement measured;
  measured.state = TrialState::kVerified;
  measured.time = Seconds(1);
  tree.complete(1, measured);
  EXPECT_FALSE(handed_over(tree));
  search::Tree opened = tree;
  opened.spend(1);  // the expert had fewer moves than trials
  EXPECT_FALSE(handed_over(opened));
  opened.open(1);
  EXPECT_TRUE(handed_over(opened));
  search::Tree answered = tree;
  answered.add({.program = "b", .parent = 1, .origin = "model", .answer = "{}"});
  EXPECT_TRUE(handed_over(answered));
  tree.spend(1, search::Proposal{.reason = "nothing", .origin = "model", .answer = "{}"});
  EXPECT_TRUE(handed_over(tree));
}

}  // namespace
}  // namespace solstice::flow
