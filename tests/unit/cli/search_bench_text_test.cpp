// What `solstice bench search` prints, of measured and of predicted searches.
#include "cli/view/search_bench_text.h"

#include <gtest/gtest.h>

namespace solstice::cli {
namespace {

SearchRow searched(const std::string& policy, const std::string& device, double original) {
  SearchRow out;
  out.id = "1/24", out.name = "log softmax", out.policy = policy, out.device = device, out.stop = "trials";
  out.original = Seconds(original);
  out.best = {Seconds(0.004), Seconds(0.002)};
  out.took = Seconds(10);
  if (device != "model") out.measuring = Seconds(8);
  return out;
}

SearchBench bench_of(const std::string& device, double original) {
  SearchBench out;
  out.rows = {searched("greedy", device, original), searched("mcts", device, original)};
  return out;
}

TEST(SearchBenchText, WhatWasMeasured) {
  EXPECT_NE(search_row_text(searched("greedy", "NVIDIA H200", 0.008)).find("best    4.00x  (trials)"),
            std::string::npos);
  const std::string text = standings_text(bench_of("NVIDIA H200", 0.008));
  EXPECT_TRUE(text.starts_with(
      "policy  problems  speedup  mean over trials  over the first  p no better  p no worse  a trial  GPU busy\n"))
      << text;
  EXPECT_NE(text.find("80 %"), std::string::npos) << text;
  EXPECT_EQ(text.find("predicted"), std::string::npos) << text;
}

TEST(SearchBenchText, WhatWasPredictedSaysSo) {
  EXPECT_NE(search_row_text(searched("greedy", "model", 0)).find("best predicted 2 ms  (trials)"), std::string::npos);
  const std::string text = standings_text(bench_of("model", 0));
  EXPECT_NE(text.find("  predicted speedup  "), std::string::npos) << text;
  EXPECT_NE(text.find(" 1                  -                 -           1.000 "), std::string::npos)
      << text;  // over no original
  EXPECT_TRUE(text.ends_with("\ntimes are predicted by cost models, not measured\n")) << text;
}

TEST(SearchBenchText, AFailedSearchIsNoPrediction) {
  SearchBench bench = bench_of("NVIDIA H200", 0.008);
  bench.rows[1].device = "model", bench.rows[1].failed = "crashed";
  EXPECT_NE(search_row_text(bench.rows[1]).find("failed: crashed"), std::string::npos);
  EXPECT_EQ(standings_text(bench).find("predicted"), std::string::npos);
}

}  // namespace
}  // namespace solstice::cli
