#include "propose/either.h"

#include <gtest/gtest.h>

namespace solstice::propose {
namespace {

// Proposes NAME0, NAME1, ... up to `count` of them.
class Counting : public search::Proposer {
 public:
  Counting(std::string name, int count) : name_(std::move(name)), count_(count) {}
  Result<std::optional<search::Proposal>> propose(const search::Tree&) override {
    if (next_ == count_) return std::optional<search::Proposal>();
    return std::optional(search::Proposal{name_ + std::to_string(next_++), "why", Seconds(1)});
  }

 private:
  std::string name_;
  int count_, next_ = 0;
};

class EitherTest : public ::testing::Test {
 protected:
  Either either_{std::make_unique<Counting>("a", 3), "rewritten", std::make_unique<Counting>("b", 3), ""};
  search::Tree tree_;

  // The next proposal, measured: 0 means that it failed.
  std::string next(double seconds) {
    const auto proposal = either_.propose(tree_);
    if (!proposal.ok() || !*proposal) return "";
    const int id = tree_.add(**proposal)->id;
    search::Measurement m;
    m.state = seconds > 0 ? TrialState::kVerified : TrialState::kWrong;
    m.time = Seconds(seconds);
    tree_.complete(id, m);
    return (*proposal)->program;
  }
};

TEST_F(EitherTest, BothOpenAndTheFasterGoesOn) {
  EXPECT_EQ(next(3), "a0");
  EXPECT_EQ(next(2), "b0");
  EXPECT_EQ(next(2.5), "b1");
  EXPECT_EQ(next(2.5), "b2");
  EXPECT_EQ(next(1), "a1");  // the other's ideas when there are no more
  EXPECT_EQ(next(1), "a2");
  EXPECT_EQ(next(1), "");
  EXPECT_EQ(tree_.nodes()[0].proposal.reason, "rewritten: why");
  EXPECT_EQ(tree_.nodes()[0].proposal.equations, "rewritten");
  EXPECT_EQ(tree_.nodes()[1].proposal.reason, "why");
}

TEST_F(EitherTest, WhereTheFirstFailsTheSecondGoesOn) {
  EXPECT_EQ(next(0), "a0");
  EXPECT_EQ(next(0), "b0");
  EXPECT_EQ(next(4), "b1");
  EXPECT_EQ(next(4), "b2");
}

}  // namespace
}  // namespace solstice::propose
