// A bench whose problems share one budget: who gets trials, and who is searched alone.
#include "unit/flow/bench/shared_bench.h"

namespace solstice::flow {
namespace {

TEST_F(BenchSharedTest, TrialsGoWhereTheyPromiseMost) {
  const Result<Bench> made = bench(options("log-gain(floor=2)", {.trials = 18}));
  ASSERT_TRUE(made.ok()) << made.error().text();
  ASSERT_EQ(made->rows.size(), 3u);
  EXPECT_EQ(std::vector<std::string>(machine_.log.begin(), machine_.log.begin() + 6),
            (std::vector<std::string>{"a", "b", "c", "a", "b", "c"}));
  EXPECT_EQ(turns(*made, 1).trials, 2);  // nothing is left at the bound
  EXPECT_GT(turns(*made, 0).trials, 6);
  EXPECT_EQ(turns(*made, 0).trials + turns(*made, 1).trials + turns(*made, 2).trials, 18);
  EXPECT_EQ(turns(*made, 0).spent.value, turns(*made, 0).trials);
  // With 6 trials each a has 3.0 s; what b would have had is not known.
  EXPECT_DOUBLE_EQ(*turns(*made, 0).fixed, 8 / 3.0);
  EXPECT_GT(turns(*made, 0).speedup, 8 / 3.0);
  EXPECT_FALSE(turns(*made, 1).fixed);
  EXPECT_EQ(turns(*made, 1).stop, "shared");
  EXPECT_TRUE(made->open.empty());
  EXPECT_TRUE(told_.has("1/3 a: one of its first trials")) << told_.text();
  EXPECT_TRUE(told_.has(" % per second")) << told_.text();
  const std::string page = *read_file(folder_.path() / "out/bench.md");
  EXPECT_NE(page.find("## One budget for all: some by log-gain(floor=2)"), std::string::npos) << page;
  EXPECT_NE(page.find("over the "), std::string::npos);
}

TEST_F(BenchSharedTest, TheFixedSplitGivesEachTheSame) {
  machine_.times["b"] = {1, 1, 1};
  const Result<Bench> made = bench(options("fixed", {.trials = 15}));
  ASSERT_TRUE(made.ok()) << made.error().text();
  EXPECT_EQ(trials("a"), 5u);
  EXPECT_EQ(trials("b"), 3u);
  EXPECT_EQ(trials("c"), 5u);
  EXPECT_EQ(turns(*made, 1).stop, "exhausted");
  for (size_t row = 0; row < 3; ++row) EXPECT_DOUBLE_EQ(*turns(*made, row).fixed, turns(*made, row).speedup);
}

TEST_F(BenchSharedTest, WhatIsUnsupportedIsARowAndTakesNothing) {
  machine_.times.erase("b");
  const Result<Bench> made = bench(options("fixed", {.trials = 10}));
  ASSERT_TRUE(made.ok()) << made.error().text();
  EXPECT_EQ(made->rows[1].variants[0].outcome, RunOutcome::kUnsupported);
  EXPECT_FALSE(made->rows[1].variants[0].turns);
  EXPECT_EQ(trials("a"), 5u);
}

TEST_F(BenchSharedTest, WhatIsOursInPartsHasItsShareAfterTheOthers) {
  machine_.in_parts = {"b"};
  const Result<Bench> made = bench(options("fixed", {.trials = 12}));
  ASSERT_TRUE(made.ok()) << made.error().text();
  EXPECT_EQ(trials("a"), 4u);
  EXPECT_EQ(trials("c"), 4u);
  EXPECT_EQ(machine_.log.back(), "parts of b: 4 trials");
  EXPECT_EQ(row_of(*made, "b").outcome, RunOutcome::kFaster);
  EXPECT_EQ(row_of(*made, "b").turns->trials, 3);  // that its stages used
  EXPECT_EQ(row_of(*made, "b").turns->spent, Seconds(3));
  EXPECT_TRUE(told_.has("2/3 b: is not ours as a whole and is searched in parts after the others: dropout"));
}

// A share of the budget is kept for it, of which it gets what it is worth.
TEST_F(BenchSharedTest, WhatFindsNoRoomHasItsTurnsAfterTheOthers) {
  machine_.no_room_at = 2;
  const Result<Bench> made = bench(options("log-gain(floor=2)", {.trials = 12}));
  ASSERT_TRUE(made.ok()) << made.error().text();
  EXPECT_EQ(trials("b"), 2u);
  EXPECT_EQ(trials("a") + trials("c"), 8u);
  EXPECT_EQ(machine_.log.back(), "end of b");
  EXPECT_TRUE(
      told_.has("2/3 b: does not fit into memory next to the others and is searched after them: it takes 90 GB"))
      << told_.text();
  EXPECT_EQ(made->rows[1].variants[0].outcome, RunOutcome::kFaster);
}

// Opponents too.
TEST_F(BenchSharedTest, WhatComesToItsEndHasTheGpuToItself) {
  machine_.no_room_at = 3;
  BenchOptions all = options("log-gain(floor=2)", {.trials = 18});
  all.opponents = true;
  const Result<Bench> made = bench(all);
  ASSERT_TRUE(made.ok()) << made.error().text();
  EXPECT_EQ(machine_.competed, 3);
  std::vector<std::string> order;
  std::copy_if(machine_.log.begin(), machine_.log.end(), std::back_inserter(order),
               [](const auto& entry) { return entry.size() > 1; });
  EXPECT_EQ(order, (std::vector<std::string>{"closed a", "closed b", "end of a", "end of b", "closed c", "end of c"}));
}

// Its result is that of a search alone: no trial has failed for want of memory that others took.
TEST_F(BenchSharedTest, ATrialThatFindsNoRoomIsNoResult) {
  machine_.gpu.large = {"a"};
  const Result<Bench> made = bench(options("log-gain(floor=2)", {.trials = 18}));
  ASSERT_TRUE(made.ok()) << made.error().text();
  EXPECT_TRUE(
      told_.has("1/3 a: does not fit into memory next to the others and is searched after them: 1 slots need 13 GB"))
      << told_.text();
  EXPECT_EQ(machine_.resumed["a"], "");
  EXPECT_EQ(trials("a"), 1 + 6u);  // and its share of 6
  EXPECT_EQ(trials("b") + trials("c"), 11u);
  EXPECT_EQ(row_of(*made, "a").turns->trials, 6);
  EXPECT_DOUBLE_EQ(row_of(*made, "a").turns->speedup, 8 / 3.0);
  EXPECT_EQ(row_of(*made, "a").outcome, RunOutcome::kFaster);
  for (const search::Node& node : machine_.trees.at("a").nodes()) EXPECT_FALSE(node.failed());
  EXPECT_EQ(machine_.log.back(), "end of a");
}

TEST_F(BenchSharedTest, WhatBreaksTheJudgeFailsAlone) {
  machine_.gpu.breaks = "b";
  const Result<Bench> made = bench(options("log-gain(floor=2)", {.trials = 18}));
  ASSERT_TRUE(made.ok()) << made.error().text();
  EXPECT_TRUE(row_of(*made, "b").failed);
  EXPECT_EQ(row_of(*made, "b").reason, "cuda_error: an illegal address");
  EXPECT_EQ(machine_.resumed["a"], "a");
  EXPECT_EQ(trials("b"), 1u);
  EXPECT_EQ(trials("a") + trials("c"), 17u);
  EXPECT_EQ(static_cast<size_t>(row_of(*made, "a").turns->trials), trials("a"));
  EXPECT_TRUE(told_.has("continues with a new judge")) << told_.text();
}

}  // namespace
}  // namespace solstice::flow
