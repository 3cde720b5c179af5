#include "flow/run/parts/stage_runs.h"

#include <gtest/gtest.h>

#include "base/file.h"

namespace solstice::flow {
namespace {

RunRecord stage_record(const char* id, const char* key, const char* parent) {
  RunRecord out;
  out.id = id;
  out.problem = "net, stage 1";
  out.problem_key = key;
  out.started = std::string(id).substr(0, 4) + "-01-01T00:00:00Z";
  out.options = Json::object().set("part", true).set("part_of", parent);
  return out;
}

TEST(StageRuns, TheNewestOfEachProblemOfTheRun) {
  const auto folder = TempFolder::create("stage-runs-");
  auto store = store::Store::open(folder->path());
  ASSERT_TRUE(store.ok()) << store.error().text();
  const auto add = [&](const RunRecord& record, RunState state, const Json& summary) {
    ASSERT_TRUE(store->begin_run(record).ok());
    ASSERT_TRUE(store->finish_run(record.id, state, RunOutcome::kPredicted, "", summary).ok());
  };
  const Json over = Json::object().set("stop", "trials");
  add(stage_record("2020", "one", "whole"), RunState::kFinished, over);
  add(stage_record("2021", "one", "whole"), RunState::kInterrupted, over);
  add(stage_record("2022", "two", "whole"), RunState::kFinished, over);
  add(stage_record("2023", "one", "other"), RunState::kFinished, over);
  add(stage_record("2024", "new", "whole"), RunState::kFinished, Json::object().set("stop", "a newer reason"));
  ASSERT_TRUE(store->begin_run(stage_record("2025", "busy", "whole")).ok());
  const auto found = stage_runs(*store, "whole");
  ASSERT_TRUE(found.ok()) << found.error().text();
  ASSERT_EQ(found->size(), 3u);
  const auto run_of = [&](const char* key) { return found->at({"net, stage 1", key}); };
  EXPECT_EQ(run_of("one").id, "2021");
  EXPECT_FALSE(run_of("one").over);
  EXPECT_EQ(run_of("two").id, "2022");
  EXPECT_EQ(run_of("two").over, search::Stop::kTrials);
  EXPECT_FALSE(run_of("new").over);
}

}  // namespace
}  // namespace solstice::flow
