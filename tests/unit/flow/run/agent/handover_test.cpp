#include "flow/run/agent/handover.h"

#include <gtest/gtest.h>

namespace solstice::flow {
namespace {

TEST(Handover, AModelThatHasTakenOverGoesOn) {
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
  search::Tree asked = tree;
  asked.add(
      {.program = "# nothing came", .parent = 1, .origin = "model", .author = search::Author::kModel, .barren = true});
  EXPECT_TRUE(handed_over(asked));
  tree.spend(1, search::Proposal{.reason = "nothing", .origin = "model", .answer = "{}"});
  EXPECT_TRUE(handed_over(tree));
}

// Trial 1 of the expert, 2 of a model, which then gave up all; the expert had no move from the problem.
search::Tree given_up_by_a_model() {
  search::Tree tree(Seconds(1));
  tree.add({.program = "a", .origin = "expert"});
  tree.spend(0);
  tree.add({.program = "b", .parent = 1, .origin = "model", .answer = "{}"});
  search::Measurement measured;
  measured.state = TrialState::kVerified;
  measured.time = Seconds(1);
  for (int id : {1, 2}) tree.complete(id, measured);
  tree.spend(2, search::Proposal{.reason = "nothing", .origin = "model", .answer = "{}"});
  tree.spend(1, search::Proposal{.reason = "nothing", .origin = "model"});
  return tree;
}

TEST(Handover, WhatAModelGaveUpIsOpenToTheExpert) {
  search::Tree tree = given_up_by_a_model();
  ASSERT_TRUE(search::open_nodes(tree).empty());
  search::Tree same = tree;
  open_nodes_again(same, "model");
  EXPECT_TRUE(search::open_nodes(same).empty());
  search::Tree other = tree;
  open_nodes_again(other, "another model");
  EXPECT_EQ(search::open_nodes(other), (std::vector{1, 2}));
  open_nodes_again(tree, "");
  EXPECT_EQ(search::open_nodes(tree), (std::vector{1, 2}));  // not the problem, which the expert is done with
  tree.spend(1);
  tree.spend(2);
  const size_t told = tree.events().size();
  open_nodes_again(tree, "");
  EXPECT_EQ(tree.events().size(), told);
}

TEST(Handover, AModelsTrialsAreNoneOfTheExpertsStops) {
  search::Tree tree = given_up_by_a_model();
  const size_t taken_back = taken_back_at(tree);
  EXPECT_EQ(taken_back, tree.events().size());
  open_nodes_again(tree, "");
  tree.add({.program = "c", .parent = 2, .origin = "expert"});
  EXPECT_EQ(taken_back_at(tree), taken_back);
  search::Tree expert(Seconds(1));
  expert.add({.program = "a", .origin = "expert"});
  expert.complete(1, {});
  expert.spend(0);
  EXPECT_EQ(taken_back_at(expert), 0u);
}

TEST(Handover, AModelThatTakesOverAgainHasFreshStops) {
  const search::Tree tree = given_up_by_a_model();
  AgentChoice model, none;
  model.controller = "flat";
  model.terms = AgentTerms::usual();
  Json options = Json::object();
  const auto goes_on = [&](const AgentChoice& agent, size_t event) {
    set_agent(agent, model_since(lead_of(options), agent, event), options);
    return model_leads_since(tree, lead_of(options).model_since);
  };
  goes_on(model, 0);
  EXPECT_EQ(goes_on(model, 7), handed_over_at(tree));  // killed, and resumed
  goes_on(none, 8);
  EXPECT_EQ(goes_on(model, 20), 20u);
  EXPECT_EQ(goes_on(model, 22), 20u);
  EXPECT_EQ(options.at("agent").as_string(), "flat");
}

}  // namespace
}  // namespace solstice::flow
