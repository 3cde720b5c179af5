#include "search/turns.h"

#include <gtest/gtest.h>

#include "search/make_policy.h"
#include "search/replay/allocation.h"
#include "unit/search/recorded_landscape.h"

namespace solstice::search {
namespace {

Schedule schedule(std::string_view text) {
  Result<Schedule> out = parse_schedule(text);
  EXPECT_TRUE(out.ok());
  return std::move(out).value();
}

TEST(Turns, TheFixedSplitTakesProblemsOneByOne) {
  Turns turns(schedule("fixed"), {.trials = 8, .seconds = 100}, Currency::kSeconds);
  for (int i = 0; i < 3; ++i) turns.add(Seconds(8), Seconds(1));
  EXPECT_EQ(turns.share().trials, 2);
  std::vector<size_t> order;
  while (const std::optional<Turn> turn = turns.next()) {
    order.push_back(turn->problem);
    turns.landed(turn->problem, {1, turn->problem == 1 ? 40.0 : 1.0, 0}, {Seconds(4)});
  }
  EXPECT_EQ(order, (std::vector<size_t>{0, 0, 1, 2, 2}));  // 40 s are more than a third of 100
  EXPECT_FALSE(turns.spent());
}

TEST(Turns, EndWithTheBudgetOrWhenNothingIsWorthATrial) {
  Turns turns(schedule("log-gain(floor=1)"), {.trials = 4}, Currency::kSeconds);
  for (int i = 0; i < 2; ++i) turns.add(Seconds(8), Seconds(1));
  std::vector<std::string> why;
  std::vector<size_t> order;
  while (const std::optional<Turn> turn = turns.next()) {
    order.push_back(turn->problem);
    why.push_back(text_of(*turn, Currency::kSeconds));
    turns.landed(turn->problem, {1, 2, 0}, {Seconds(turn->problem == 0 ? 1.5 : 6)});
  }
  EXPECT_EQ(order, (std::vector<size_t>{0, 1, 1, 1}));  // 1 has more left
  EXPECT_EQ(why[0], "one of its first trials");
  EXPECT_EQ(why[2].rfind("expected ", 0), 0u) << why[2];
  EXPECT_NE(why[2].find(" % per second"), std::string::npos) << why[2];
  EXPECT_TRUE(turns.spent());
  EXPECT_EQ(turns.had(1).trials, 3);
  EXPECT_EQ(turns.all().seconds, 8);

  Turns idle(schedule("log-gain(floor=1)"), {}, Currency::kSeconds);
  const size_t only = idle.add(Seconds(8), Seconds(1));
  idle.landed(only, {1, 1, 0}, {Seconds(1.0001)});
  EXPECT_EQ(idle.next(), std::nullopt);
  EXPECT_FALSE(idle.spent());
}

TEST(Turns, KnowTheirSchedules) {
  EXPECT_FALSE(schedule("fixed").log_gain);
  EXPECT_EQ(schedule("log-gain(floor=7)").log_gain->find("floor")->second, 7);
  EXPECT_EQ(parse_schedule("fair").error().sentence(), "no schedule `fair`; there are `log-gain` and `fixed`");
  EXPECT_FALSE(parse_schedule("log-gain(flor=1)").ok());
}

// What searches that run get is what replay says of their records: one decides for both.
TEST(Turns, RunningSearchesGetWhatReplayPredicts) {
  struct One {
    const Landscape& landscape;
    std::unique_ptr<Policy> policy = std::move(make_policy("greedy", 5)).value();
    testing::Walker walker{landscape, 5};
    testing::Gauge gauge{landscape, 5, true};
    Tree tree{Seconds(1)};
    Observer observer = {};
    std::unique_ptr<Search> search = {};
  };
  const auto all = all_landscapes();
  std::vector<std::unique_ptr<One>> running;
  std::vector<Record> records;
  Turns turns(schedule("log-gain"), {.trials = 150}, Currency::kSeconds);
  for (const Landscape* landscape : all) {
    auto one = std::make_unique<One>(One{*landscape});
    one->search = std::make_unique<Search>(one->tree, Participants{*one->policy, one->walker, one->gauge},
                                           Budget{.time = Seconds(1e9), .trials = 40}, 1, one->observer);
    running.push_back(std::move(one));
    turns.add(Seconds(1), Seconds(1.0 / 16));
    records.push_back(testing::recorded_landscape(*landscape, "greedy", 5, 40, 1, {}, true));
  }
  while (const std::optional<Turn> turn = turns.next()) {
    One& one = *running[turn->problem];
    const Result<std::optional<Stop>> stop = one.search->step([] { return false; });
    ASSERT_TRUE(stop.ok());
    if (*stop) {
      turns.close(turn->problem);
      continue;
    }
    const Event& last = one.tree.events().back();
    const Node* best = one.tree.best();
    turns.landed(turn->problem, {1, last.measurement->cost.value, 0}, best ? timed(*best) : Timed());
  }
  std::vector<const Sequence*> sequences;
  for (const Record& record : records) sequences.push_back(&record.sequence());
  const Allocation predicted = scheduled(sequences, {.trials = 150}, usual_scheduling(), Currency::kSeconds);
  for (size_t i = 0; i < all.size(); ++i)
    EXPECT_EQ(turns.had(i).trials, static_cast<double>(predicted[i])) << all[i]->name;
}

}  // namespace
}  // namespace solstice::search
