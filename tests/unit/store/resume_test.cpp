// Runs that go on: one process at a time, and nothing is lost where nothing came of it.
#include <gtest/gtest.h>

#include "unit/store/support.h"

namespace solstice::store {
namespace {

TEST_F(StoreTest, ARunGoesOnInOneProcessAtATime) {
  Store store = open();
  const std::string id = *store.begin_run(run_of("p", "o"));
  EXPECT_EQ(store.resume_run(id).error().code, Code::bad_argument) << "it is running, here";
  ASSERT_TRUE(store.finish_run(id, RunState::kInterrupted, RunOutcome::kNone, "stopped", Json()).ok());
  ASSERT_TRUE(store.resume_run(id).ok());
  EXPECT_EQ(store.load_run(id)->run.state, RunState::kRunning);
  EXPECT_EQ(store.load_run(id)->run.reason, "");
}

// A run with an outcome and an event, which goes on under others.
std::string resumed(Store& store) {
  const std::string id = *store.begin_run(run_of("p", "o"));
  EXPECT_TRUE(store.add_event(id, 0, {.kind = search::Event::Kind::kLost}).ok());
  EXPECT_TRUE(
      store.finish_run(id, RunState::kFinished, RunOutcome::kFaster, "kept", Json::object().set("speedup", 2.5)).ok());
  EXPECT_TRUE(store.resume_run(id).ok());
  RunRecord other = store.load_run(id)->run;
  other.policy = "mcts", other.seed = 9, other.folder = "/elsewhere", other.options.set("eps", 0.5);
  EXPECT_TRUE(store.keep_choices(other).ok());
  return id;
}

TEST_F(StoreTest, ARunThatWentOnToNothingIsAsItWas) {
  Store store = open();
  const std::string id = resumed(store);
  EXPECT_EQ(store.load_run(id)->run.policy, "mcts");
  ASSERT_TRUE(store.stop_run(id, RunState::kFailed, "no GPU", Json::object().set("agent", "cost")).ok());
  const RunRecord run = store.load_run(id)->run;
  EXPECT_EQ(run.state, RunState::kFinished);
  EXPECT_EQ(run.outcome, RunOutcome::kFaster);
  EXPECT_EQ(run.reason, "kept");
  EXPECT_NE(run.finished, "");
  EXPECT_EQ(run.policy, run_of("p", "o").policy);
  EXPECT_EQ(run.summary.at("speedup").as_double(), 2.5);
  EXPECT_EQ(run.summary.at("agent").as_string(), "cost");
}

TEST_F(StoreTest, ARunThatWentOnAndStoppedKeepsItsSummary) {
  Store store = open();
  const std::string id = resumed(store);
  ASSERT_TRUE(store.add_event(id, 1, {.kind = search::Event::Kind::kLost}).ok());
  ASSERT_TRUE(store.stop_run(id, RunState::kFailed, "why").ok());
  const RunRecord run = store.load_run(id)->run;
  EXPECT_EQ(run.state, RunState::kFailed);
  EXPECT_EQ(run.reason, "why");
  EXPECT_EQ(run.outcome, RunOutcome::kFaster);
  EXPECT_EQ(run.summary.at("speedup").as_double(), 2.5);
  EXPECT_EQ(run.seed, 9);
  ASSERT_TRUE(store.resume_run(id).ok());
  ASSERT_TRUE(
      store.finish_run(id, RunState::kFinished, RunOutcome::kNotFaster, "", Json::object().set("stop", "time")).ok());
  EXPECT_EQ(store.load_run(id)->run.summary.at("speedup").as_double(), 2.5);
}

TEST_F(StoreTest, AKillBeforeAnythingCameOfItLeavesTheRunAsItWas) {
  std::string id;
  {
    Store store = open();
    id = resumed(store);
    Database database = std::move(Database::open(folder_.path() / "runs.db")).value();
    ASSERT_TRUE(database.execute("UPDATE runs SET pid = 0, process_start = 'gone'").ok());
  }
  Store store = open();
  EXPECT_EQ(*store.close_abandoned(), 1);
  const RunRecord run = store.load_run(id)->run;
  EXPECT_EQ(run.state, RunState::kFinished);
  EXPECT_EQ(run.outcome, RunOutcome::kFaster);
  EXPECT_EQ(run.summary.at("speedup").as_double(), 2.5);
}

// What a language model has cost is spent, whatever becomes of the run.
TEST_F(StoreTest, AKillLeavesWhatWasSpent) {
  for (const bool with_event : {false, true}) {
    std::string id;
    {
      Store store = open();
      id = resumed(store);
      if (with_event) {
        ASSERT_TRUE(store.add_event(id, 1, {.kind = search::Event::Kind::kLost}).ok());
      }
      ASSERT_TRUE(store.keep_summary(id, Json::object().set("agent", "cost")).ok());
      Database database = std::move(Database::open(folder_.path() / "runs.db")).value();
      ASSERT_TRUE(database.execute("UPDATE runs SET pid = 0, process_start = 'gone'").ok());
    }
    Store store = open();
    EXPECT_EQ(*store.close_abandoned(), 1);
    const RunRecord run = store.load_run(id)->run;
    EXPECT_EQ(run.state, with_event ? RunState::kInterrupted : RunState::kFinished);
    EXPECT_EQ(run.summary.at("agent").as_string(), "cost");
    EXPECT_EQ(run.summary.at("speedup").as_double(), 2.5);
  }
}

}  // namespace
}  // namespace solstice::store
