#include "flow/history/tool_stats.h"

#include <gtest/gtest.h>

#include <cmath>

namespace solstice::flow {
namespace {

propose::FindingOutcome outcome(const std::string& tool, double bound, std::vector<propose::ActedOn> acted) {
  return {tool, "dram", "h200", 1, bound, std::move(acted)};
}

TEST(ToolStats, CountWhatAdviceCameTo) {
  const propose::ActedOn twice{2, TrialState::kVerified, 1, true}, same{3, TrialState::kVerified, 0, false},
      wrong{4, TrialState::kWrong, 0, false};
  const std::vector<ToolStats> stats = stats_of({outcome("a", 4, {twice, same}), outcome("a", 1.5, {twice}),
                                                 outcome("a", 2, {}), outcome("b", 2, {wrong}), outcome("c", 2, {})});
  ASSERT_EQ(stats.size(), 3u);
  EXPECT_EQ(stats[0].tool, "a");
  EXPECT_EQ(stats[0].limited, "dram");
  EXPECT_EQ(stats[0].found, 3);
  EXPECT_EQ(stats[0].acted_on, 3);
  EXPECT_EQ(stats[0].hits, 2);
  EXPECT_EQ(stats[0].beyond, 1) << "twice as fast, where the bound is 1.5";
  EXPECT_DOUBLE_EQ(stats[0].median_gain, 2);
  EXPECT_DOUBLE_EQ(stats[0].over_bound, 0.5);
  EXPECT_EQ(stats[1].failed, 1);
  EXPECT_EQ(stats[1].median_gain, 0);
  EXPECT_EQ(never_hit(stats), std::vector<std::string>{"b"}) << "nobody acted on c";
}

}  // namespace
}  // namespace solstice::flow
