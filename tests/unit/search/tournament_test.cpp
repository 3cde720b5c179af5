#include "search/tournament.h"

#include <gtest/gtest.h>

#include "search/landscape.h"

namespace solstice::search {
namespace {

// Values of R's wilcox.test(x, alternative = "greater", correct = FALSE, exact = FALSE).
TEST(SignedRank, IsTheTextbooks) {
  EXPECT_NEAR(signed_rank_p({1.1, 2.2, -0.4, 3.1, 0.9, 1.7, -0.2, 2.8}), 0.0179, 5e-4);
  EXPECT_NEAR(signed_rank_p({1, -1, 1, -1}), 0.5, 1e-9);
  EXPECT_EQ(signed_rank_p({0, 0, 0}), 1);
  EXPECT_EQ(signed_rank_p({}), 1);
}

// What docs/search.md claims of the policies that were published.
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
