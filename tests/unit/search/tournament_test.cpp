#include "search/tournament.h"

#include <gtest/gtest.h>

#include "search/landscape.h"

namespace solstice::search {
namespace {

TEST(SignedRank, IsExactForFew) {
  // Negative ranks 1 and 2: of 256 ways, the five with at most 3 on that side.
  EXPECT_NEAR(signed_rank_p({1.1, 2.2, -0.4, 3.1, 0.9, 1.7, -0.2, 2.8}), 5.0 / 256, 1e-12);
  EXPECT_NEAR(signed_rank_p({1, -1, 1, -1}), 11.0 / 16, 1e-12);  // equal ranks: two or more of four
  EXPECT_NEAR(signed_rank_p({0, 0.3, 0}), 0.5, 1e-12);           // one pair says nothing
  EXPECT_EQ(signed_rank_p({0, 0, 0}), 1);
  EXPECT_EQ(signed_rank_p({}), 1);
}

TEST(SignedRank, IsTheNormalApproximationForMany) {
  std::vector<double> all;
  for (int i = 1; i <= 30; ++i) all.push_back(i);
  EXPECT_NEAR(signed_rank_p(all), 8.7e-7, 2e-8);  // z = 232.5 / sqrt(30 * 31 * 61 / 24)
}

// The claims of docs/measured/search.md on the published policies.
TEST(Tournament, PublishedPoliciesBeatChanceOnAllButTheNeedle) {
  const auto rows = tournament({.policies = {"mcts", "epsilon-greedy"}});
  ASSERT_TRUE(rows.ok()) << rows.error().text();
  EXPECT_EQ(rows->size(), 2 * all_landscapes().size());
  for (const Standings& row : *rows) {
    EXPECT_TRUE(row.p < 0.01 || row.kind == "needle") << row.policy << " on " << row.landscape << ": p = " << row.p;
  }
}

TEST(Tournament, TheSameSeedGivesTheSameTable) {
  const TournamentOptions options{
      .policies = {"successive-halving", "beam"}, .landscapes = {"noisy", "flaky_slopes"}, .runs = 12, .lookahead = 3};
  const auto one = tournament(options), two = tournament(options);
  ASSERT_TRUE(one.ok() && two.ok());
  for (size_t i = 0; i < one->size(); ++i) EXPECT_EQ(to_json((*one)[i]).dump(), to_json((*two)[i]).dump());
  EXPECT_FALSE(tournament({.landscapes = {"flat"}}).ok());
}

TEST(Landscapes, ArePureFunctionsOfSeedAndCandidate) {
  for (const Landscape* landscape : all_landscapes()) {
    for (uint64_t seed = 1; seed < 4; ++seed) {
      std::string at;
      Random random(seed, landscape->name);
      for (int step = 0; step < 12; ++step) {
        const std::vector<Step> steps = landscape->moves(seed, at), again = landscape->moves(seed, at);
        ASSERT_FALSE(steps.empty()) << landscape->name;
        ASSERT_EQ(steps.size(), again.size());
        at = steps[random.below(steps.size())].candidate;
        EXPECT_FALSE(at.empty());
        EXPECT_EQ(landscape->gain(seed, at), landscape->gain(seed, at));
        EXPECT_EQ(landscape->works(seed, at), landscape->works(seed, at));
      }
    }
  }
}

}  // namespace
}  // namespace solstice::search
