// What failed on the device is mended first, under any policy, and no more often than is said.
#include "flow/run/agent/led.h"

#include <gtest/gtest.h>

#include "search/make_policy.h"

namespace solstice::flow {
namespace {

// Of a problem that the expert is done with.
search::Tree begun() {
  search::Tree tree(Seconds(1));
  tree.spend(0);
  return tree;
}

int grow(search::Tree& tree, int parent, TrialState state, bool by_model = true, const Json& record = Json::object()) {
  search::Proposal proposal;
  proposal.program = "program " + std::to_string(tree.trials());
  proposal.parent = parent;
  if (by_model) proposal.author = search::Author::kModel;
  const int id = tree.add(std::move(proposal))->id;
  search::Measurement m;
  m.state = state;
  m.record = record;
  if (m.usable()) m.time = Seconds(1e-6 * (10 + id));
  tree.complete(id, std::move(m));
  return id;
}

int decided(const search::Tree& tree, int most, const char* name = "greedy", const char* controller = "flat") {
  const auto policy = search::make_policy(name, 1);
  const auto decision = Led(**policy, **agents::find_controller(controller), most).decide(tree);
  EXPECT_TRUE(decision.ok() && *decision);
  return decision.ok() && *decision ? (*decision)->node : -1;
}

TEST(Led, UnderEveryPolicyWhatFailedIsMendedFirst) {
  for (const TrialState state : {TrialState::kWrong, TrialState::kCrashed, TrialState::kHung}) {
    search::Tree tree = begun();
    const int good = grow(tree, 0, TrialState::kVerified);
    const int first = grow(tree, good, state);
    for (const search::PolicySpec* policy : search::all_policies())
      EXPECT_EQ(decided(tree, 2, std::string(policy->name).c_str()), first) << policy->name;
    EXPECT_EQ(decided(tree, 0), good) << "--debug 0";
    const int second = grow(tree, first, state);
    EXPECT_EQ(decided(tree, 2), second);
    grow(tree, second, state);
    EXPECT_EQ(decided(tree, 2), good) << "two in a row";
  }
}

TEST(Led, ARepairThatWorksEndsIt) {
  search::Tree tree = begun();
  const int good = grow(tree, 0, TrialState::kVerified);
  const int failed = grow(tree, good, TrialState::kWrong);
  grow(tree, failed, TrialState::kVerified);
  EXPECT_EQ(decided(tree, 2), good) << "the fastest";
}

TEST(Led, WhatTheDeviceNeverHadIsNotMended) {
  search::Tree tree = begun();
  const int good = grow(tree, 0, TrialState::kVerified);
  grow(tree, good, TrialState::kIllegal);
  grow(tree, good, TrialState::kNotCompiled);
  grow(tree, good, TrialState::kWrong, true, Json::object().set("meaning", "refuted"));
  grow(tree, good, TrialState::kWrong, false);
  const int given_up = grow(tree, good, TrialState::kWrong);
  tree.spend(given_up);
  EXPECT_EQ(decided(tree, 2), good);
}

TEST(Led, ControllersWithARuleGoByIt) {
  search::Tree tree(Seconds(1));
  grow(tree, 0, TrialState::kVerified, false);
  const int last = grow(tree, 1, TrialState::kVerified);
  const int failed = grow(tree, 1, TrialState::kWrong);
  EXPECT_EQ(decided(tree, 2, "greedy", "sampling"), 0);
  EXPECT_EQ(decided(tree, 0, "greedy", "reflexion"), failed) << "one line, whatever became of the last";
  tree.spend(failed);
  EXPECT_EQ(decided(tree, 0, "greedy", "reflexion"), last);
  tree.spend(0);
  const auto policy = search::make_policy("greedy", 1);
  const auto decision = Led(**policy, **agents::find_controller("sampling"), 2).decide(tree);
  ASSERT_TRUE(decision.ok());
  EXPECT_FALSE(*decision) << "it said that nothing is left";
}

}  // namespace
}  // namespace solstice::flow
