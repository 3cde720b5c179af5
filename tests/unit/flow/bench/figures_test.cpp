#include "flow/bench/figures.h"

#include <gtest/gtest.h>

#include <cmath>

#include "flow/bench/bench.h"
#include "flow/bench/chart.h"
#include "flow/bench/merge.h"
#include "flow/bench/text.h"
#include "support/golden.h"

namespace solstice::flow {
namespace {

const VariantName kReference{"reference", ""}, kHigh{"high", ""};

BenchSide side(const char* name, double ms, double error, const char* note = "") {
  BenchSide out;
  out.name = name;
  out.note = note;
  if (ms > 0) out.time = Measured{milliseconds(ms), milliseconds(ms), milliseconds(ms), 40, {}};
  if (error > 0) out.error = error;
  if (ms > 0) out.peak = Bytes(3 << 20);
  return out;
}

BenchVariant variant(const VariantName& name, RunOutcome outcome, double speedup, double original_ms) {
  BenchVariant v;
  v.numerics = name.numerics;
  v.outcome = outcome;
  v.speedup = speedup;
  if (speedup > 0) v.speedup_low = speedup * 0.98, v.speedup_high = speedup * 1.02;
  v.original = milliseconds(original_ms);
  if (speedup > 0) v.replacement = milliseconds(original_ms / speedup);
  v.io = milliseconds(0.1);
  v.work = milliseconds(original_ms / 10);
  v.practical = milliseconds(original_ms / 8);
  v.kernels = {{"k0", "gemm"}};
  if (outcome == RunOutcome::kFaster) v.beside = side(name.numerics.c_str(), original_ms / speedup, 3e-7);
  return v;
}

BenchRow row(const char* id, const char* name, std::vector<BenchVariant> variants) {
  BenchRow out;
  out.id = id;
  out.name = name;
  out.variants = std::move(variants);
  out.made_with = {{"solstice", "0.1.0"}, {"build", "aaaa"}, {"device", "GPU A"}};
  out.finished = "2026-01-02T03:04:05Z";
  out.flaws.measured = true;
  return out;
}

// One problem of each kind.
Bench sample() {
  Bench bench;
  bench.version = "0.1.0";
  bench.started = "2026-01-02T03:04:05Z";
  bench.options = {{"numerics", "reference,high"}, {"machine", ""}};
  bench.rows = {
      row("1/2", "Product",
          {variant(kReference, RunOutcome::kFaster, 4, 8), variant(kHigh, RunOutcome::kFaster, 8, 8)}),
      row("1/5", "Window",
          {variant(kReference, RunOutcome::kNotFaster, 0.5, 2), variant(kHigh, RunOutcome::kNotFaster, 0, 2)}),
      row("2/3", "Tiny",
          {variant(kReference, RunOutcome::kFaster, 1.5, 3), variant(kHigh, RunOutcome::kFaster, 1.5, 3)}),
      row("3/1", "Network",
          {variant(kReference, RunOutcome::kUnsupported, 0, 0), variant(kHigh, RunOutcome::kUnsupported, 0, 0)})};
  bench.rows[0].opponents = {side("PyTorch eager", 8, 4e-7), side("torch.compile", 4, 5e-7)};
  bench.rows[1].opponents = {side("PyTorch eager", 2, 4e-7), side("torch.compile", 1, 5e-7)};
  bench.rows[2].opponents = {side("PyTorch eager", 3, 4e-7),
                             side("torch.compile", 0, 0, "timed out: it was not ready after 60 s")};
  bench.rows[3].opponents_note = "the opponents were not measured: too slow";
  bench.rows[0].variants[0].worst = 8e-7, bench.rows[0].variants[0].worst_eager = 9e-7;
  bench.rows[0].variants[0].rewritten = "factor_sums, fold_scalars";
  bench.rows[1].variants[1].reason = "given up: its best candidate took\n9 ms";
  bench.rows[2].flaws.constant_output = true;
  bench.rows[2].flaws.constant = "zeros";
  bench.rows[2].variants[0].kernels.push_back({"k1", "torch"});
  for (BenchVariant& v : bench.rows[3].variants) v.reason = "no kernel family runs its <fft> & more", v.kernels.clear();
  return bench;
}

TEST(BenchFigures, MeansAreOverWhatIsDelivered) {
  const Figures f = figures_of(sample(), {kReference});
  EXPECT_EQ(f.outcomes.problems, 4);
  EXPECT_EQ(f.outcomes.faster, 2);
  EXPECT_EQ(f.outcomes.not_faster, 1);
  EXPECT_EQ(f.outcomes.unsupported, 1);
  EXPECT_EQ(f.supported.count, 3);
  EXPECT_NEAR(f.supported.mean, std::cbrt(4 * 1 * 1.5), 1e-12);
  EXPECT_NEAR(f.faster.mean, std::sqrt(4 * 1.5), 1e-12);
  EXPECT_DOUBLE_EQ(f.fast_1, 0.5);
  EXPECT_DOUBLE_EQ(f.fast_2, 0.25);
}

// The mixed one is left out; where the candidate is slower the original is kept.
TEST(BenchFigures, CompleteOnesAreAsFastAsTheOriginal) {
  Bench bench = sample();
  bench.rows[1].variants[1] = variant(kHigh, RunOutcome::kNotFaster, 0.98, 2);
  const Figures f = figures_of(bench, {kReference}), high = figures_of(bench, {kHigh});
  EXPECT_EQ(f.complete.count, 1);
  EXPECT_DOUBLE_EQ(f.complete.mean, 4);
  EXPECT_DOUBLE_EQ(f.complete.least, 4);
  EXPECT_EQ(f.slower.count, 1);
  EXPECT_DOUBLE_EQ(f.slower.least, 0.5);
  EXPECT_EQ(high.complete.count, 3);
  EXPECT_DOUBLE_EQ(high.complete.least, 0.98);
  EXPECT_EQ(high.slower.count, 0);
}

TEST(BenchFigures, ATrialIsTheMedianOfProblemsWithItsVerification) {
  Bench bench = sample();
  bench.rows[0].variants[0].trial = Seconds(0.5);
  bench.rows[0].variants[0].verification = Seconds(1);
  bench.rows[1].variants[0].trial = Seconds(0.25);
  bench.rows[2].variants[0].trial = Seconds(4);
  EXPECT_DOUBLE_EQ(figures_of(bench, {kReference}).trial.value, 1.5);
}

TEST(BenchFigures, AgainstAnOpponentTheOriginalStandsInWhereItStays) {
  const Bench bench = sample();
  EXPECT_DOUBLE_EQ(*delivered_over(bench.rows[0], bench.rows[0].variants[0], "torch.compile"), 2.0);
  EXPECT_DOUBLE_EQ(*delivered_over(bench.rows[1], bench.rows[1].variants[0], "torch.compile"), 0.5);
  EXPECT_FALSE(delivered_over(bench.rows[2], bench.rows[2].variants[0], "torch.compile"));  // it timed out
  const Figures f = figures_of(bench, {kReference, 0, true, "torch.compile"});
  EXPECT_EQ(f.supported.count, 2);
  EXPECT_NEAR(f.supported.mean, 1.0, 1e-12);
  EXPECT_DOUBLE_EQ(f.fast_1, 0.25);
  EXPECT_DOUBLE_EQ(f.fast_2, 0.0);  // exactly 2x is not more
}

TEST(BenchFigures, PartsAreLevelsAndSoundProblems) {
  EXPECT_EQ(figures_of(sample(), {kReference, 1}).outcomes.problems, 2);
  EXPECT_EQ(figures_of(sample(), {kReference, 0, false}).outcomes.problems, 3);
  EXPECT_EQ(levels_of(sample()), (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(figures_of(Bench(), {kReference}).supported.mean, 0);
}

TEST(BenchFigures, TheScoreIsHalfAtTheOriginalAndOneAtTheBound) {
  const auto ms = [](double v) { return milliseconds(v); };
  EXPECT_DOUBLE_EQ(*sol_score(ms(4), ms(4), ms(1)), 0.5);
  EXPECT_DOUBLE_EQ(*sol_score(ms(4), ms(1), ms(1)), 1.0);
  EXPECT_DOUBLE_EQ(*sol_score(ms(4), ms(0.5), ms(1)), 1.0);
  EXPECT_DOUBLE_EQ(*sol_score(ms(4), ms(2.5), ms(1)), 3 / 4.5);
  EXPECT_FALSE(sol_score(ms(1), ms(1), ms(1)));
  EXPECT_FALSE(sol_score(ms(1), ms(1), ms(0)));
  EXPECT_DOUBLE_EQ(*sol_score(sample().rows[1].variants[0]), 0.5);  // the original stays
}

TEST(BenchText, TablesAndChart) {
  testing::expect_golden("bench/bench.md", render_bench(sample()));
  testing::expect_golden("bench/bench.svg", render_chart(sample()));
  EXPECT_EQ(render_chart(Bench()), "");
}

TEST(BenchText, SaysWhereItsRowsComeFrom) {
  Bench bench = sample();
  EXPECT_NE(render_bench(bench).find("- 4 rows: solstice 0.1.0, build aaaa, device GPU A\n"), std::string::npos);
  EXPECT_EQ(render_bench(bench).find("builds of Solstice"), std::string::npos);
  bench.rows[1].made_with["build"] = "bbbb";
  EXPECT_NE(render_bench(bench).find("Rows come from 2 builds"), std::string::npos);
}

std::string refusal(Bench other) {
  const Result<Bench> merged = merge_benches({{"a", sample()}, {"b", std::move(other)}});
  return merged.ok() ? "" : merged.error().message;
}

TEST(BenchMerge, TheRowThatWasFinishedLastStands) {
  Bench other = sample();
  other.started = "2026-01-01T00:00:00Z";
  other.rows = {row("1/10", "Later", {variant(kReference, RunOutcome::kFaster, 3, 8)}), other.rows[0]};
  other.rows[1].finished = "2026-01-03T00:00:00Z";
  other.rows[1].name = "newer";
  for (const bool first : {true, false}) {
    std::vector<NamedBench> benches = {{"a", sample()}, {"b", other}};
    if (first) std::swap(benches[0], benches[1]);
    const Result<Bench> merged = merge_benches(std::move(benches));
    ASSERT_TRUE(merged.ok()) << merged.error().message;
    ASSERT_EQ(merged->rows.size(), 5u);
    EXPECT_EQ(merged->rows[0].name, "newer");
    EXPECT_EQ(merged->rows[2].id, "1/10");
    EXPECT_EQ(merged->started, other.started);
  }
}

TEST(BenchMerge, WhatDiffersIsNamed) {
  Bench other = sample();
  other.options["numerics"] = "high";
  EXPECT_EQ(refusal(other),
            "a and b cannot be merged: they were run with other options: numerics (reference,high in a, high in b)");
  other = sample();
  other.rows[1].made_with["device"] = "GPU B";
  EXPECT_EQ(refusal(other),
            "a and b cannot be merged: they were run in different places: device GPU A in a, GPU B in b");
  other = sample();
  other.rows[1].made_with["build"] = "another";
  EXPECT_EQ(refusal(other), "");
  Bench one = sample();
  one.rows[0].source = "x", other.rows[0].source = "y";
  EXPECT_NE(merge_benches({{"a", one}, {"b", other}}).error().message.find("the file of problem 1/2 differs"),
            std::string::npos);
}

}  // namespace
}  // namespace solstice::flow
