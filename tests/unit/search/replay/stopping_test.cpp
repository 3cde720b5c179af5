#include "search/replay/stopping.h"

#include <cmath>

#include "search/replay/allocation.h"
#include "search/replay/comparison.h"
#include "unit/search/recorded_landscape.h"

namespace solstice::search {
namespace {

// The original takes 8 s, the bound is 1 s; a trial costs 2 s and 100 tokens. 0: it failed.
Sequence sequence_of(const std::vector<double>& times) {
  Sequence out{.original = Seconds(8), .bound = Seconds(1), .points = {Point{}}};
  for (const double time : times) {
    Point p = out.last();
    p.spent += Spent{1, 2, 100};
    const int node = static_cast<int>(out.points.size());
    if (time > 0 && (p.best.time.value <= 0 || Seconds(time) < p.best.time))
      p.best = {.time = Seconds(time), .node = node};
    if (p.best.time.value > 0) p.speedup = std::max(1.0, out.original / p.best.time);
    out.points.push_back(p);
  }
  return out;
}

TEST(StopRule, EachPartEndsByItself) {
  const Sequence s = sequence_of({0, 10, 4, 4.2, 3.99, 2, 0, 0, 0, 1.1});
  EXPECT_EQ(stop_of(s, {}), 10u);
  EXPECT_EQ(stop_of(s, {.stop = {.eps = 0.05}}), 10u);
  EXPECT_EQ(stop_of(s, {.stop = {.eps = 1}}), 6u);  // 2 s are 2 bounds
  EXPECT_EQ(stop_of(s, {.stop = {.eps = 3}}), 3u);  // 4 s
  EXPECT_EQ(stop_of(s, {.stop = {.eps = 6}}), 3u);  // 10 s are too far, as is the original
  EXPECT_EQ(stop_of(s, {.stop = {.eps = 7}}), 1u);  // the original is near enough: nothing is to be gained
  EXPECT_EQ(stop_of(s, {.stop = {.eps = 7, .least = 5}}), 5u);
  EXPECT_EQ(stop_of(s, {.stop = {.window = 2}}), 5u);  // 3.99 s is no gain over 4
  EXPECT_EQ(stop_of(s, {.stop = {.window = 3}}), 9u);
  EXPECT_EQ(stop_of(s, {.stop = {.window = 1}}), 4u);
  EXPECT_EQ(stop_of(s, {.budget = {.trials = 7}}), 7u);
  EXPECT_EQ(stop_of(s, {.budget = {.seconds = 7}}), 4u);
  EXPECT_EQ(stop_of(s, {.stop = {.eps = 1, .window = 2}, .budget = {.trials = 4}}), 4u);
  EXPECT_EQ(stop_of(sequence_of({}), {.budget = {.trials = 4}}), 0u);
  EXPECT_EQ(text_of({.stop = {.eps = 0.25, .window = 8}, .budget = {.seconds = 60}}), "eps 0.25, window 8, 60 s");
}

// Small steps add up to a gain; what may be luck is none.
TEST(StopRule, AGainIsBeyondNoiseHoweverItCame) {
  Watch steps({.window = 3}, Seconds(8), Seconds(0)), luck({.window = 3}, Seconds(8), Seconds(0));
  for (int trial = 0; trial < 12; ++trial) {
    EXPECT_FALSE(steps.ends()) << trial;
    steps.add({Seconds(4 * std::pow(0.996, trial)), 0, trial + 1});  // every second one is 0.8 % below the last gain
  }
  for (int trial = 0; trial < 4; ++trial)
    luck.add({Seconds(4 - 0.08 * trial), 0.05, trial + 1});  // 2 % each, known to 5 %
  EXPECT_EQ(luck.ends(), Stop::kWindow);
}

// A time that was measured again and is slower than it looked: gains count from what is known now.
TEST(StopRule, WhatIsTakenBackIsNoMark) {
  Watch watch({.window = 2}, Seconds(8), Seconds(0));
  for (const double best : {3.0, 4.0, 3.5}) watch.add({Seconds(best)});
  EXPECT_FALSE(watch.ends());
  watch.add({Seconds(3.5)});
  watch.add({Seconds(3.5)});
  EXPECT_EQ(watch.ends(), Stop::kWindow);
  Outlook outlook({Seconds(8)}, Seconds(1), usual_scheduling());
  for (const double best : {3.0, 4.0, 3.5}) outlook.add(1, {Seconds(best)});
  EXPECT_EQ(outlook.since_gain(), 0);
}

TEST(Mark, FollowsItsCandidateAndStaysBelowTheOriginal) {
  Mark mark({Seconds(8)});
  EXPECT_FALSE(mark.move({}));  // nothing works yet
  EXPECT_TRUE(mark.move({Seconds(3), 0.1, 1}));
  EXPECT_FALSE(mark.move({Seconds(2.95), 0.002, 1}));  // the same, known better
  EXPECT_TRUE(mark.move(
      {Seconds(2.65), 0.002, 2}));  // a tenth less than that; by the first measurement's noise it would be none
  EXPECT_FALSE(mark.move({Seconds(9), 0.002, 1}));  // both were slower than they looked, and than the original
  EXPECT_EQ(mark.at().time, Seconds(8));
}

// What was predicted before anything was measured stops nothing, as in the search.
TEST(StopRule, CountsBehindThePredictions) {
  Sequence s = sequence_of({4, 4, 4, 4, 4, 4, 4, 4, 2, 2});
  EXPECT_EQ(stop_of(s, {.stop = {.window = 3}}), 4u);
  s.measured_since = 5;
  for (size_t at = 0; at <= 5; ++at) s.points[at].best = {};
  EXPECT_EQ(stop_of(s, {.stop = {.window = 2}}), 8u);
  EXPECT_EQ(stop_of(s, {.stop = {.window = 3}}), 10u);
  EXPECT_EQ(stop_of(s, {.budget = {.trials = 2}}), 2u);
}

// A result that an earlier proposer had in flight is no trial of these.
TEST(StopRule, WhatComesInLateIsLearntAndNotCounted) {
  Watch watch({.window = 2}, Seconds(8), Seconds(0), {Seconds(4), 0, 1});
  for (int i = 0; i < 5; ++i) watch.learn({Seconds(3), 0, 2});
  EXPECT_FALSE(watch.ends());
  watch.add({Seconds(3), 0, 2});
  watch.learn({Seconds(2), 0, 3});
  EXPECT_FALSE(watch.ends());
  watch.add({Seconds(2), 0, 3});
  EXPECT_EQ(watch.ends(), Stop::kWindow);
  EXPECT_EQ(watch.trials(), 2);
}

// A search that is stopped by a rule ends where the rule stops its recorded twin, which nothing stopped.
TEST(StopRule, StopsASearchWhereItStopsTheRecord) {
  int stopped = 0;
  for (const StopRule& rule :
       {StopRule{.window = 3}, {.eps = 3}, {.roi = 0.2}, {.eps = 1, .window = 5, .roi = 0.05, .least = 4}}) {
    for (const Landscape* landscape : all_landscapes()) {
      for (const uint64_t seed : {1, 2, 3}) {
        const Record whole = testing::recorded_landscape(*landscape, "greedy", seed, 40);
        const Record live = testing::recorded_landscape(*landscape, "greedy", seed, 40, 1, rule);
        EXPECT_EQ(live.sequence().trials(), stop_of(whole.sequence(), {.stop = rule}))
            << landscape->name << " " << seed;
        stopped += live.sequence().trials() < whole.sequence().trials() ? 1 : 0;
      }
    }
  }
  EXPECT_GT(stopped, 40);
}

// The usual scheduler believes in a gain in every second trial, of a fifth of what is left, less after each failure:
// 0.208, 0.195, 0.181, 0.168, 0.155, 0.142, ...
TEST(StopRule, RoiIsTheExpectedGainOfTheNextTrial) {
  const Sequence s = sequence_of({0, 0, 0, 0, 0, 0});
  EXPECT_EQ(stop_of(s, {.stop = {.roi = 0.19}}), 2u);
  EXPECT_EQ(stop_of(s, {.stop = {.roi = 0.15}}), 5u);
  // At the bound nothing is to be gained.
  EXPECT_EQ(stop_of(sequence_of({4, 1, 4, 4}), {.stop = {.roi = 1e-6}}), 2u);
}

TEST(StopRule, HindsightIsTheFirstThatReachesTheEnd) {
  EXPECT_EQ(hindsight_stop(sequence_of({4, 2, 1.003, 1, 3})), 3u);
  EXPECT_EQ(hindsight_stop(sequence_of({4, 4})), 1u);
  EXPECT_EQ(hindsight_stop(sequence_of({9, 9})), 0u);  // the original stays
  Sequence unknown = sequence_of({9, 9});
  unknown.original = Seconds(0);
  EXPECT_EQ(hindsight_stop(unknown), 1u);
}

// Two searches of 4 trials, stopped after 2 and 3: by hand.
TEST(Judged, AreTheFormulas) {
  const Sequence a = sequence_of({4, 4, 2, 2}), b = sequence_of({2, 2, 2, 2});
  const Result<Judged> row = judge({{&a, 2, &a}, {&b, 3, &b}}, Currency::kSeconds);
  ASSERT_TRUE(row.ok());
  EXPECT_DOUBLE_EQ(row->speedup, std::sqrt(2.0 * 4));
  EXPECT_DOUBLE_EQ(row->retention, std::sqrt(0.5 * 1));
  EXPECT_DOUBLE_EQ(row->spent.seconds, 10);
  EXPECT_DOUBLE_EQ(*row->saved_trials, 1 - 5.0 / 8);
  EXPECT_DOUBLE_EQ(*row->saved_tokens, 1 - 500.0 / 800);
  EXPECT_DOUBLE_EQ(row->gain, std::sqrt(0.5) * 16 / 10);
  EXPECT_DOUBLE_EQ(*row->over, 10.0 / 8 - 1);  // optimal: 3 and 1 trials, 8 s
  EXPECT_DOUBLE_EQ(*row->regret, 4.0 / 8);     // two trials too many of b; what a missed is in retention
  Sequence free = a;
  for (Point& p : free.points) p.spent.tokens = 0;
  EXPECT_FALSE(judge({{&free, 2, &free}}, Currency::kTokens).ok());
}

TEST(Judged, TheFrontIsWhatNothingBeats) {
  std::vector<Judged> rows(4);
  const double cost[] = {10, 5, 5, 6}, retention[] = {1, 0.9, 0.8, 0.9};
  for (size_t i = 0; i < 4; ++i) rows[i].spent.trials = cost[i], rows[i].retention = retention[i];
  mark_front(rows, Currency::kTrials);
  EXPECT_TRUE(rows[0].front && rows[1].front);
  EXPECT_FALSE(rows[2].front || rows[3].front);
}

std::vector<Record> landscapes(int trials) {
  std::vector<Record> out;
  for (const Landscape* landscape : all_landscapes()) {
    for (const uint64_t seed : {1, 2}) out.push_back(testing::recorded_landscape(*landscape, "mcts", seed, trials));
  }
  return out;
}

// Whatever the rule and the policy: nothing retains more than all, regret is never below 0, and the same input gives
// the same rows.
TEST(Comparison, KeepsItsPromises) {
  const std::vector<Record> records = landscapes(300);
  ComparisonOptions options{.policies = {"greedy", "random"},
                            .schedules = {"log-gain", "log-gain(floor=20, stop=0.01)"}};
  for (const double eps : {0.1, 1.0, 4.0}) {
    for (const int window : {2, 8, 40}) options.rules.push_back({.stop = {.eps = eps, .window = window}});
  }
  options.rules.push_back({.stop = {.roi = 0.01}});
  options.rules.push_back({.budget = {.trials = 25}});
  options.budgets = {{.trials = 10}, {.trials = 80}, {.seconds = 50}};
  for (const Currency currency : {Currency::kTrials, Currency::kSeconds, Currency::kTokens}) {
    options.currency = currency;
    const Result<Comparison> found = compare(records, options), again = compare(records, options);
    ASSERT_TRUE(found.ok()) << found.error().text();
    EXPECT_EQ(to_json(*found).dump(), to_json(*again).dump());
    EXPECT_EQ(found->stops.size(), 2 + 11 + 2 * 12u);
    EXPECT_EQ(found->schedules.size(), 4u * 3 + 3);
    for (const std::vector<Judged>* rows : {&found->stops, &found->schedules}) {
      for (const Judged& row : *rows) {
        EXPECT_LE(row.retention, 1 + 1e-12) << row.policy << " " << row.rule;
        EXPECT_GE(*row.regret, 0) << row.policy << " " << row.rule;
      }
    }
    EXPECT_EQ(found->stops[0].retention, 1);
    EXPECT_GE(found->stops[1].retention, 1 - kNoise);
    EXPECT_EQ(*found->stops[1].regret, 0);
    EXPECT_TRUE(std::any_of(found->stops.begin(), found->stops.end(), [](const Judged& row) { return row.front; }));
  }
  EXPECT_FALSE(compare({}, options).ok());
}

// Without bounds in the record a rule that needs them is left out, aloud.
TEST(Comparison, SaysWhatTheRecordLacks) {
  RecordedRun run = landscapes(20).front().run();
  run.bound = Seconds(0);
  std::vector<Record> records;
  records.push_back(std::move(Record::read(run)).value());
  const Result<Comparison> found =
      compare(records, {.rules = {{.stop = {.eps = 0.1, .window = 2}}, {.stop = {.eps = 1, .window = 2}}}});
  ASSERT_TRUE(found.ok());
  ASSERT_EQ(found->stops.size(), 3u);
  EXPECT_EQ(found->stops[2].rule, "window 2");
  ASSERT_EQ(found->notes.size(), 1u);
  EXPECT_NE(found->notes[0].find("eps is left out"), std::string::npos);
}

}  // namespace
}  // namespace solstice::search
