// Searches on a fleet: the order of results changes no outcome, and nothing is lost.
#include <gtest/gtest.h>

#include <set>

#include "search/make_policy.h"
#include "unit/evaluate/pretended_devices.h"

namespace solstice::evaluate {
namespace {

// Proposes "1", "2", ...
class Endless : public search::Proposer {
 public:
  Result<std::optional<search::Proposal>> propose(const search::Tree& tree, int) override {
    return std::optional(search::Proposal{.program = std::to_string(tree.trials() + 1), .reason = "next"});
  }
};

struct Searched {
  search::Tree tree;
  Result<search::Stop> stop = search::Stop::kTrials;
};

Searched search_with(search::Evaluator& evaluator, int trials, int lookahead,
                     const std::function<bool()>& interrupted) {
  Searched out;
  Endless proposer;
  search::Budget budget;
  budget.trials = trials;
  const auto policy = search::make_policy("greedy(starts=5)", 1);
  out.stop = search::run(out.tree, {**policy, proposer, evaluator}, budget, lookahead, {}, interrupted);
  return out;
}

// As the fleet with one device does, without a thread.
class Ordered : public search::InOrder {
 protected:
  void begin(const search::Node&) override {}
  Result<search::Measurement> finish(int node) override {
    search::Measurement out;
    out.state = TrialState::kVerified;
    out.time = Seconds(node);
    return out;
  }
};

TEST(Fleet, ASearchOnOneDeviceIsTheSameAsWithoutAFleet) {
  Yard yard;
  const auto fleet = fleet_of(yard, 1);
  ASSERT_TRUE(fleet->open().ok());
  Ordered ordered;
  const Searched with = search_with(*fleet, 20, 6, [] { return false; });
  const Searched without = search_with(ordered, 20, 6, [] { return false; });
  ASSERT_EQ(with.tree.events().size(), without.tree.events().size());
  for (size_t i = 0; i < with.tree.events().size(); ++i) {
    EXPECT_EQ(to_json(with.tree.events()[i]).dump(), to_json(without.tree.events()[i]).dump());
  }
}

// Whatever the order was: the tree is what its events say, and a search that goes on from them measures what is
// missing.
TEST(Fleet, ASearchLosesNothingAndReplays) {
  Yard yard;
  yard.measure = [](size_t device, int node) -> Result<double> {
    if (device == 2 && node > 9) return fail(Code::cuda_error, "broke");
    std::this_thread::sleep_for(std::chrono::microseconds(50 * (node % 5)));
    return double(node);
  };
  const auto fleet = fleet_of(yard, 4);
  ASSERT_TRUE(fleet->open().ok());
  const Searched done = search_with(*fleet, 60, 18, [] { return false; });
  ASSERT_TRUE(done.stop.ok());
  EXPECT_EQ(*done.stop, search::Stop::kTrials);
  EXPECT_EQ(done.tree.in_flight(), 0);
  for (const search::Node& node : done.tree.nodes()) EXPECT_TRUE(node.id == 0 || node.usable()) << node.id;
  search::Tree again;
  for (const search::Event& event : done.tree.events()) ASSERT_TRUE(again.apply(event).ok());
  EXPECT_EQ(again.best()->id, done.tree.best()->id);
}

TEST(Fleet, AnInterruptedSearchStopsAfterTheNextResult) {
  Yard yard;
  const auto fleet = fleet_of(yard, 3);
  ASSERT_TRUE(fleet->open().ok());
  int asked = 0;
  const Searched done = search_with(*fleet, 1000, 14, [&] { return ++asked > 5; });
  ASSERT_TRUE(done.stop.ok());
  EXPECT_EQ(*done.stop, search::Stop::kInterrupted);
  fleet->end();
  EXPECT_EQ(yard.closed, 3);
  EXPECT_GT(done.tree.in_flight(), 0);
}

}  // namespace
}  // namespace solstice::evaluate
