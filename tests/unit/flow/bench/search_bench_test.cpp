#include "flow/bench/search_bench.h"

#include <gtest/gtest.h>

#include <cmath>

namespace solstice::flow {
namespace {

SearchRow search_row(const std::string& id, const std::string& policy, std::vector<double> best, double original = 8) {
  SearchRow out;
  out.id = id;
  out.policy = policy;
  out.original = Seconds(original);
  for (const double b : best) out.best.emplace_back(b);
  out.took = Seconds(10);
  out.measuring = Seconds(7);
  return out;
}

TEST(SearchStandings, TheFirstPolicyIsWhatOthersAreComparedWith) {
  SearchBench bench;
  for (int i = 0; i < 8; ++i) {
    const std::string id = "1/" + std::to_string(i);
    bench.rows.push_back(search_row(id, "greedy", {8, 4}));
    bench.rows.push_back(search_row(id, "mcts", {8, 2}));
  }
  const std::vector<PolicyStanding> found = standings_of(bench);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].policy, "greedy");
  EXPECT_NEAR(found[0].speedup, 2, 1e-9);
  EXPECT_NEAR(found[0].ratio, 1, 1e-9);
  EXPECT_NEAR(found[1].speedup, 4, 1e-9);
  EXPECT_NEAR(found[1].early, 2, 1e-9);  // log 1 and log 4
  EXPECT_NEAR(found[1].ratio, 2, 1e-9);
  EXPECT_LT(found[1].p, 0.01);
  EXPECT_GT(found[1].p_worse, 0.9);
  EXPECT_NEAR(found[0].measuring, 0.7, 1e-9);
  EXPECT_NEAR(found[0].a_trial.value, 5, 1e-9);
}

TEST(SearchStandings, ASearchThatEndsEarlyKeepsItsBestAndFailuresCountForNobody) {
  SearchBench bench;
  bench.rows.push_back(search_row("1/1", "greedy", {0, 4, 4, 4}));  // nothing worked at first: the original is kept
  bench.rows.push_back(search_row("1/1", "mcts", {2}));
  bench.rows.push_back(search_row("1/2", "greedy", {4, 4}));
  bench.rows.push_back(search_row("1/2", "mcts", {}));
  bench.rows.back().failed = "crashed";
  const std::vector<PolicyStanding> found = standings_of(bench);
  EXPECT_EQ(found[1].problems, 1);
  EXPECT_NEAR(found[1].early, 4, 1e-9);
  EXPECT_NEAR(found[0].early, std::exp((0 + 3 * std::log(2.0)) / 4 / 2 + std::log(2.0) / 2), 1e-9);
}

TEST(SearchStandings, SeedsOfAProblemAreOnePair) {
  SearchBench bench;
  for (const double best : {2.0, 8.0}) bench.rows.push_back(search_row("1/1", "mcts", {best}));
  const std::vector<PolicyStanding> found = standings_of(bench);
  EXPECT_EQ(found[0].problems, 1);
  EXPECT_NEAR(found[0].speedup, 2, 1e-9);  // 4x and 1x
}

}  // namespace
}  // namespace solstice::flow
