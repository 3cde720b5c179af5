// Resolution of a run that goes on: its record is read once, and what led it is in the options from then on.
#include "flow/run/resolve.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "flow/run/state/resume_options.h"

namespace solstice::flow {
namespace {

class Resolve : public ::testing::Test {
 protected:
  Resolve() {
    asked_.store = folder_.path();
    asked_.resume = "last";
    asked_.left_out = {"--budget", "--trials", "--out", "--device"};
  }

  // A run that the expert led, or a model; it has so many trials.
  void keep(const AgentChoice& agent, int trials) {
    Result<store::Store> store = store::Store::open(folder_.path());
    RunRecord run;
    run.folder = "/home/me/runs/softmax";
    run.policy = "beam";
    OptimizeOptions began;
    began.search.trials = 3;
    run.options = kept_options(began);
    set_agent(agent, 0, run.options);
    id_ = *store->begin_run(run);
    search::Tree tree;
    for (int i = 0; i < trials; ++i) tree.add({.program = std::to_string(i), .origin = "expert"});
    for (size_t i = 0; i < tree.events().size(); ++i)
      ASSERT_TRUE(store->add_event(id_, i, tree.events()[i], nullptr).ok());
    ASSERT_TRUE(store->finish_run(id_, RunState::kFinished, RunOutcome::kNotFaster, "", Json()).ok());
  }

  static AgentChoice flat() {
    AgentChoice out;
    out.controller = "flat";
    return out;
  }

  TempFolder folder_ = std::move(TempFolder::create("resolve-test-")).value();
  OptimizeOptions asked_;
  std::string id_;
};

TEST_F(Resolve, WhatIsLeftOutIsTheRuns) {
  keep({}, 2);
  const Result<ResolvedRun> resolved = resolve_run(asked_);
  ASSERT_TRUE(resolved.ok()) << resolved.error().text();
  EXPECT_EQ(resolved->options.resume, id_);
  EXPECT_EQ(resolved->stored.resumed->events.size(), 2u);
  EXPECT_EQ(resolved->options.search.policy, "beam");
  EXPECT_EQ(resolved->options.search.trials, 3);
  EXPECT_EQ(resolved->options.out, "/home/me/runs/softmax");
  EXPECT_FALSE(resolved->options.named_out);
  EXPECT_FALSE(resolved->options.asked_to_predict);
  EXPECT_FALSE(resolved->options.had_batches);
  EXPECT_EQ(resolved->options.led_before.by, "expert");
}

TEST_F(Resolve, AModelLeadsFromWhereTheExpertEnded) {
  keep({}, 2);
  asked_.agent = flat();
  const Result<ResolvedRun> resolved = resolve_run(asked_);
  ASSERT_TRUE(resolved.ok()) << resolved.error().text();
  EXPECT_EQ(resolved->options.led_before.agent, "");
  EXPECT_EQ(resolved->options.model_since, 2u);
}

TEST_F(Resolve, AModelThatWouldNotBeAskedIsRefused) {
  keep(flat(), 3);
  EXPECT_TRUE(resolve_run(asked_).ok());
  asked_.agent = flat();
  const Result<ResolvedRun> resolved = resolve_run(asked_);
  ASSERT_FALSE(resolved.ok());
  EXPECT_NE(resolved.error().message.find("has 3 trials, and its budget is 3: none is left for flat"),
            std::string::npos)
      << resolved.error().message;
}

}  // namespace
}  // namespace solstice::flow
