#include "search/scheduler.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "search/replay/allocation.h"
#include "unit/search/recorded_landscape.h"

namespace solstice::search {
namespace {

TEST(Outlook, IsTheRateTimesAShareOfWhatIsLeft) {
  const Values values = usual_scheduling();
  Outlook one({Seconds(8)}, Seconds(1), values);
  EXPECT_DOUBLE_EQ(one.gain(), 0.5 * 0.2 * std::log(8));
  one.add(3, {Seconds(4), 0, 1});  // 8 of 16 trials gained before there was any, and each counts a tenth less now
  EXPECT_DOUBLE_EQ(one.gain(), 8.2 / 15.4 * 0.2 * std::log(4));
  one.add(1, {Seconds(3.99), 0, 2});  // within noise
  EXPECT_DOUBLE_EQ(one.gain(), 7.38 / 14.86 * 0.2 * std::log(4));
  EXPECT_EQ(one.since_gain(), 1);
  EXPECT_DOUBLE_EQ(one.cost(), 2);
  EXPECT_DOUBLE_EQ(one.worth(), one.gain() / 2);
  one.add(2, {Seconds(0.9), 0, 3});  // below the bound
  EXPECT_EQ(one.gain(), 0);
  // How far the first candidate is from the original says nothing of the next.
  Outlook near({Seconds(8)}, Seconds(0), values), far({Seconds(8)}, Seconds(0), values);
  near.add(1, {Seconds(7), 0, 1}), far.add(1, {Seconds(1), 0, 1});
  EXPECT_DOUBLE_EQ(near.gain(), far.gain());
  EXPECT_DOUBLE_EQ(near.gain(), 8.2 / 15.4 * 0.2 * 0.4);
}

TEST(Outlook, WhatIsSlowerThanTheOriginalIsNoGain) {
  const Values values = usual_scheduling();
  Outlook known({Seconds(8)}, Seconds(0), values), unknown({}, Seconds(0), values);
  for (Outlook* o : {&known, &unknown}) o->add(1, {Seconds(10), 0, 1});
  EXPECT_EQ(known.since_gain(), 1);
  EXPECT_EQ(unknown.since_gain(), 0);
}

TEST(Scheduler, FloorThenWorthThenNobody) {
  Values values = usual_scheduling();
  values["floor"] = 2;
  std::vector<Outlook> problems(3, Outlook({Seconds(8)}, Seconds(1), values));
  std::vector<size_t> order;
  for (int i = 0; i < 6; ++i) {
    order.push_back(*next_problem(problems, values));
    problems[order.back()].add(order.back() == 1 ? 4 : 1, {Seconds(order.back() == 2 ? 1 : 4)});
  }
  EXPECT_EQ(order, (std::vector<size_t>{0, 1, 2, 0, 1, 2}));
  EXPECT_EQ(next_problem(problems, values), 0u);  // 1 costs four times as much, 2 is at its bound
  problems[0].close();
  EXPECT_EQ(next_problem(problems, values), 1u);
  problems[1].close();
  EXPECT_EQ(next_problem(problems, values), std::nullopt);
}

TEST(Scheduler, ReadsItsParameters) {
  EXPECT_EQ(parse_scheduling("log-gain(floor=8, stop=0.01)")->find("floor")->second, 8);
  for (const char* wrong : {"log", "log-gain(flor=8)", "log-gain(floor=-1)", "log-gain(floor=8", "log-gain(floor=1.5)"})
    EXPECT_FALSE(parse_scheduling(wrong).ok()) << wrong;
  for (const Parameter& p : scheduler_parameters()) {
    EXPECT_TRUE(p.least <= p.usual && p.usual <= p.most && !p.help.empty()) << p.name;
  }
}

Sequence of(const std::vector<double>& speedups) {
  Sequence out{.original = Seconds(8), .bound = Seconds(1), .points = {}};
  for (size_t k = 0; k < speedups.size(); ++k) {
    const auto n = static_cast<double>(k);
    out.points.push_back({.best = {Seconds(k ? 8 / speedups[k] : 0)}, .speedup = speedups[k], .spent = {n, 2 * n, 0}});
  }
  return out;
}

// Of 4 trials, a needs 3 for 4x where b has 2x with 1 and 3x with 4: 3 + 1 is best.
TEST(Allocation, HindsightIsTheBestThereIs) {
  const Sequence a = of({1, 1, 1, 4, 4}), b = of({1, 2, 2, 2, 3});
  EXPECT_EQ(hindsight_split({&a, &b}, 4), (Allocation{3, 1}));
  EXPECT_EQ(hindsight_split({&a, &b}, 2), (Allocation{0, 1}));  // the second would buy nothing
  EXPECT_EQ(hindsight_split({&a, &b}, 6), (Allocation{3, 1}));
  EXPECT_EQ(hindsight_split({&a, &b}, 7), (Allocation{3, 4}));
  EXPECT_EQ(hindsight_split({&a, &b}, std::nullopt), (Allocation{3, 4}));
}

TEST(Allocation, KeepsToItsBudget) {
  const Sequence a = of({1, 1, 1, 4, 4}), b = of({1, 2, 2});
  EXPECT_EQ(fixed_split({&a, &b}, {}), (Allocation{4, 2}));
  EXPECT_EQ(fixed_split({&a, &b}, {.trials = 6}), (Allocation{3, 2}));
  EXPECT_EQ(fixed_split({&a, &b}, {.seconds = 7}), (Allocation{2, 2}));
  const Values values = usual_scheduling();
  for (const int trials : {1, 3, 5}) {
    const Allocation at = scheduled({&a, &b}, {.trials = trials}, values, Currency::kSeconds);
    EXPECT_EQ(at[0] + at[1], static_cast<size_t>(trials));
  }
  EXPECT_EQ(scheduled({&a, &b}, {.seconds = 5}, values, Currency::kSeconds), (Allocation{2, 1}));
  EXPECT_EQ(scheduled({&a, &b}, {}, values, Currency::kSeconds), (Allocation{4, 2}));
}

// Ten made-up problems with half the trials that they were recorded with, of seeds that no parameter was chosen on.
TEST(Scheduler, KeepsMoreThanTheFixedSplitWhereGainsCanHardlyBeForeseen) {
  double by_gain = 0, fixed = 0;
  for (uint64_t seed = 1000; seed < 1040; ++seed) {
    std::vector<Record> records;
    for (const Landscape* landscape : all_landscapes())
      records.push_back(testing::recorded_landscape(*landscape, "greedy", seed, 40));
    std::vector<const Sequence*> searches;
    for (const Record& record : records) searches.push_back(&record.sequence());
    const TotalBudget half{.trials = static_cast<int>(20 * searches.size())};
    const Allocation given = scheduled(searches, half, usual_scheduling(), Currency::kTrials),
                     same = fixed_split(searches, half);
    for (size_t i = 0; i < searches.size(); ++i) {
      by_gain += std::log(searches[i]->points[given[i]].speedup / searches[i]->last().speedup);
      fixed += std::log(searches[i]->points[same[i]].speedup / searches[i]->last().speedup);
    }
  }
  RecordProperty("retention",
                 fmt::format("{:.4f}, fixed split {:.4f}", std::exp(by_gain / 400), std::exp(fixed / 400)));
  EXPECT_GT(by_gain, fixed);
}

}  // namespace
}  // namespace solstice::search
