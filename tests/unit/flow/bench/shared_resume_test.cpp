// A bench with one budget that goes on: what was spent, set apart and ended counts as it was.
#include "unit/flow/bench/shared_bench.h"

namespace solstice::flow {
namespace {

// It is no candidate's fault either that a run was killed before that was seen.
TEST_F(BenchSharedTest, ARunWithSuchATrialDoesNotGoOn) {
  machine_.gpu.large = {"a"};
  const BenchOptions once = options("fixed", {.trials = 12});
  Bench open;
  ASSERT_TRUE(bench(once).ok());
  open.options = load_bench(once.out)->options;
  for (const char* name : {"a", "b"}) {
    open.open[name] = name;
    machine_.trees.insert_or_assign(name, search::Tree(Seconds(8)));
  }
  machine_.gpu.open = 1;  // another one
  TimesSearch("a", machine_.times["a"], machine_.trees, machine_.log, machine_.gpu).step();
  ASSERT_TRUE(machine_.trees.at("a").node(1).failed());
  machine_.gpu.open = 0;
  BenchOptions again = once;
  again.resume = true;
  again.out = folder_.path() / "again";
  ASSERT_TRUE(write_bench(open, again.out).ok());
  const Result<Bench> made = bench(again);
  ASSERT_TRUE(made.ok()) << made.error().text();
  EXPECT_EQ(row_of(*made, "a").turns->trials, 4);
  EXPECT_FALSE(machine_.trees.at("a").node(1).failed());
}

// What it had before it was set apart is spent also for a bench that goes on.
TEST_F(BenchSharedTest, WhatWasSetApartStaysApart) {
  const BenchOptions once = options("fixed", {.trials = 12});
  Bench open;
  ASSERT_TRUE(bench(once).ok());
  open.options = load_bench(once.out)->options;
  open.apart["a"].trials = 3;
  BenchOptions again = once;
  again.resume = true;
  again.out = folder_.path() / "again";
  ASSERT_TRUE(write_bench(open, again.out).ok());
  machine_.log.clear();
  const Result<Bench> made = bench(again);
  ASSERT_TRUE(made.ok()) << made.error().text();
  EXPECT_EQ(trials("a"), 4u);
  EXPECT_EQ(trials("b") + trials("c"), 8u - 3u);
  EXPECT_EQ(machine_.log.back(), "end of a");
}

// What ended by itself says so still when the bench goes on after the budget was used up.
TEST_F(BenchSharedTest, WhyASearchEndedIsKept) {
  machine_.times["b"] = {1, 1, 1};
  machine_.disk_full = true;
  const BenchOptions once = options("log-gain(floor=4,stop=0)", {.trials = 20});
  EXPECT_EQ(bench(once).error().code, Code::disk_full);
  const Result<Bench> half = load_bench(once.out);
  ASSERT_TRUE(half.ok()) << half.error().text();
  EXPECT_EQ(half->open.size(), 3u);
  EXPECT_EQ(half->ended, (std::map<std::string, std::string>{{"b", "exhausted"}}));
  machine_.disk_full = false;
  machine_.log.clear();
  BenchOptions again = once;
  again.resume = true;
  const Result<Bench> made = bench(again);
  ASSERT_TRUE(made.ok()) << made.error().text();
  EXPECT_EQ(trials("a") + trials("b") + trials("c"), 0u);
  EXPECT_EQ(turns(*made, 1).stop, "exhausted");
  EXPECT_TRUE(turns(*made, 1).fixed);
  EXPECT_EQ(turns(*made, 0).stop, "shared");
  EXPECT_TRUE(made->ended.empty());
}

// Killed at any moment: the trees are what the store kept, the record says which runs go on. Each trial is once, in the
// same order.
TEST_F(BenchSharedTest, GoesOnWithEveryTrialOnce) {
  const BenchOptions once = options("log-gain(floor=2)", {.trials = 20});
  ASSERT_TRUE(bench(once).ok());
  std::vector<std::string> whole;
  const auto is_trial = [](const std::string& entry) { return entry.size() == 1; };
  std::copy_if(machine_.log.begin(), machine_.log.end(), std::back_inserter(whole), is_trial);
  const RunTrees all = machine_.trees;
  for (size_t killed = 0; killed <= whole.size(); ++killed) {
    machine_.trees.clear();
    Bench open;
    open.options = load_bench(once.out)->options;
    for (const char* name : {"a", "b", "c"}) {
      open.open[name] = name;
      machine_.trees.insert_or_assign(name, search::Tree(Seconds(8)));
    }
    machine_.log.clear();
    for (size_t i = 0; i < killed; ++i) {
      TimesSearch(whole[i], machine_.times[whole[i]], machine_.trees, machine_.log, machine_.gpu).step();
    }
    BenchOptions again = once;
    again.resume = true;
    again.out = folder_.path() / ("again-" + std::to_string(killed));
    ASSERT_TRUE(write_bench(open, again.out).ok());
    const Result<Bench> made = bench(again);
    ASSERT_TRUE(made.ok()) << made.error().text();
    EXPECT_EQ(machine_.resumed["a"], "a");
    std::vector<std::string> order;
    std::copy_if(machine_.log.begin(), machine_.log.end(), std::back_inserter(order), is_trial);
    EXPECT_EQ(order, whole) << killed;
    for (const auto& [name, tree] : all) EXPECT_EQ(machine_.trees.at(name).trials(), tree.trials()) << killed;
  }
}

// What a trial costs on all is known as it was: nobody is found cheap because a row is there already.
TEST_F(BenchSharedTest, WhoWasWorthNoTrialIsWorthNoneWhenItGoesOn) {
  const BenchOptions once = options("log-gain(floor=2,stop=0.05)", {.trials = 60});
  const Result<Bench> made = bench(once);
  ASSERT_TRUE(made.ok());
  EXPECT_LT(trials("a") + trials("b") + trials("c"), 36u);
  Bench half = *made;
  for (const char* name : {"b", "c"}) half.open[name] = name;
  half.rows.resize(1);
  BenchOptions again = once;
  again.resume = true;
  again.out = folder_.path() / "half";
  ASSERT_TRUE(write_bench(half, again.out).ok());
  machine_.log.clear();
  ASSERT_TRUE(bench(again).ok());
  EXPECT_EQ(trials("a") + trials("b") + trials("c"), 0u);
}

// One row is there already: its trials count, and its problem is not searched again.
TEST_F(BenchSharedTest, RowsThatAreKeptHaveHadTheirShare) {
  const BenchOptions once = options("log-gain(floor=2)", {.trials = 20});
  const Result<Bench> made = bench(once);
  ASSERT_TRUE(made.ok());
  Bench half = *made;
  for (const char* name : {"b", "c"}) half.open[name] = name;
  half.rows.resize(1);
  BenchOptions again = once;
  again.resume = true;
  again.out = folder_.path() / "half";
  ASSERT_TRUE(write_bench(half, again.out).ok());
  machine_.log.clear();
  const Result<Bench> whole = bench(again);
  ASSERT_TRUE(whole.ok()) << whole.error().text();
  EXPECT_EQ(whole->rows.size(), 3u);
  EXPECT_EQ(trials("a") + trials("b") + trials("c"), 0u);  // the budget was used up
  EXPECT_EQ(turns(*whole, 1).trials, turns(*made, 1).trials);
  again.shared->schedule_text = "fixed";
  EXPECT_NE(bench(again).error().message.find("schedule (log-gain(floor=2) then, fixed now)"), std::string::npos);
}

}  // namespace
}  // namespace solstice::flow
