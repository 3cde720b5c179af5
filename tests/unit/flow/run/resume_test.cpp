#include "flow/run/resume.h"

#include <gtest/gtest.h>

#include "base/file.h"

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

TEST(Resume, WhatAModelGaveUpIsOpenToTheExpert) {
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

TEST(Resume, AModelsTrialsAreNoneOfTheExpertsStops) {
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

TEST(Resume, AModelThatTakesOverAgainHasFreshStops) {
  const search::Tree tree = given_up_by_a_model();
  AgentChoice model, none;
  model.controller = "flat";
  model.terms = AgentTerms::usual();
  Json options = Json::object();
  set_agent(model, 0, options);
  set_agent(model, 7, options);  // killed, and resumed
  EXPECT_EQ(model_leads_since(tree, options), handed_over_at(tree));
  set_agent(none, 8, options);
  set_agent(model, 20, options);
  EXPECT_EQ(model_leads_since(tree, options), 20u);
  set_agent(model, 22, options);
  EXPECT_EQ(model_leads_since(tree, options), 20u);
  EXPECT_EQ(options.at("agent").as_string(), "flat");
}

// A run of the store that has trial 1, predicted for `machine`, and goes on.
class ResumedSession : public ::testing::Test {
 protected:
  void resume(const std::string& machine) {
    state_.store.emplace(std::move(store::Store::open(folder_.path())).value());
    RunRecord run;
    run.problem = "softmax", run.machine = machine, run.device = "model";
    state_.report.run = *state_.store->begin_run(run);
    search::Tree tree;
    tree.add({.program = "a", .origin = "expert"});
    search::Measurement predicted;
    predicted.state = TrialState::kPredicted;
    predicted.time = Seconds(2);
    tree.complete(1, predicted);
    for (size_t i = 0; i < tree.events().size(); ++i)
      ASSERT_TRUE(state_.store->add_event(state_.report.run, i, tree.events()[i], nullptr).ok());
    state_.resumed = *state_.store->load_run(state_.report.run);
  }

  TempFolder folder_ = std::move(TempFolder::create("resumed-")).value();
  OptimizeOptions options_;
  SilentProgress silent_;
  Engine engine_;
  Session state_{options_, silent_, engine_};
};

TEST_F(ResumedSession, AGpuTimesTheOriginalOfARunThatHadNone) {
  resume("h200");
  state_.eager = Seconds(5);
  ASSERT_TRUE(restore_tree(state_).ok());
  EXPECT_EQ(state_.tree.original(), Seconds(5));
  state_.resumed = *state_.store->load_run(state_.report.run);  // once more: it is known
  state_.tree = search::Tree();
  state_.eager = Seconds(6);
  ASSERT_TRUE(restore_tree(state_).ok());
  EXPECT_EQ(state_.tree.original(), Seconds(5));
  EXPECT_EQ(state_.tree.events().size(), 3u);
}

TEST_F(ResumedSession, WithoutAGpuTheOriginalStaysUnknown) {
  resume("h200");
  ASSERT_TRUE(restore_tree(state_).ok());
  EXPECT_EQ(state_.tree.events().size(), 2u);
}

TEST_F(ResumedSession, AnotherMachineIsNamedWithAWayOut) {
  resume("h100_sxm");
  state_.machine.emplace(std::move(machine::load_machine("h200")).value());
  const Status placed = check_place(state_);
  ASSERT_FALSE(placed.ok());
  EXPECT_EQ(placed.error().message,
            "run " + state_.report.run +
                " was made for h100_sxm, this is h200: go on where that is, or, where this is one, with "
                "--machine h100_sxm");
}

}  // namespace
}  // namespace solstice::flow
