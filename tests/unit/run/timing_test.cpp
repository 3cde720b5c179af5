#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "run/abba.h"
#include "run/timing_stats.h"

namespace solstice::run {
namespace {

// Deterministic noise of +-`spread`.
std::vector<double> samples(double center, double spread, int n, unsigned seed) {
  std::vector<double> out;
  for (int i = 0; i < n; ++i) {
    seed = seed * 1664525u + 1013904223u;
    out.push_back(center * (1 + spread * (static_cast<double>(seed >> 8) / (1 << 24) * 2 - 1)));
  }
  return out;
}

std::vector<TimingRound> rounds(double candidate, double baseline, double spread, int n) {
  std::vector<TimingRound> out;
  for (int i = 0; i < n; ++i) {
    TimingRound round;
    round.candidate = samples(candidate, spread, 20, 10u + static_cast<unsigned>(i));
    round.baseline = samples(baseline, spread, 20, 1000u + static_cast<unsigned>(i));
    round.candidate_mhz = round.baseline_mhz = 1500;
    out.push_back(round);
  }
  return out;
}

TEST(Median, OddEvenAndEmpty) {
  EXPECT_DOUBLE_EQ(median(std::vector<double>{3, 1, 2}), 2);
  EXPECT_DOUBLE_EQ(median(std::vector<double>{4, 1, 2, 3}), 2.5);
  EXPECT_TRUE(std::isnan(median({})));
}

TEST(Speedup, IsTheRatioOfMediansAndItsIntervalHoldsIt) {
  const auto data = rounds(1e-3, 2e-3, 0.02, 6);
  EXPECT_NEAR(speedup_of(data), 2.0, 0.02);
  const Intervals intervals = bootstrap_speedup(data);
  EXPECT_LT(intervals.p95[0], speedup_of(data));
  EXPECT_GT(intervals.p95[1], speedup_of(data));
  EXPECT_LE(intervals.p999[0], intervals.p95[0]);
  EXPECT_GE(intervals.p999[1], intervals.p95[1]);
}

TEST(Speedup, BootstrapRepeats) {
  const auto data = rounds(1e-3, 1.1e-3, 0.05, 4);
  EXPECT_EQ(bootstrap_speedup(data).p95, bootstrap_speedup(data).p95);
}

TEST(Speedup, DriftBetweenRoundsCancelsInTheRatio) {
  auto data = rounds(1e-3, 1.5e-3, 0, 5);
  for (size_t i = 0; i < data.size(); ++i) {
    for (double& s : data[i].candidate) s *= 1 + 0.2 * static_cast<double>(i);
    for (double& s : data[i].baseline) s *= 1 + 0.2 * static_cast<double>(i);
  }
  EXPECT_NEAR(speedup_of(data), 1.5, 1e-9);
}

// Blocks of one thing against itself, or against one `speed` times as fast: each block has an effect of its own.
class Blocks {
 public:
  Blocks(double block_effect, unsigned seed) : block_effect_(block_effect), random_(seed) {}
  std::vector<double> operator()(double seconds, int repetitions) {
    const double here = seconds * (1 + block_effect_ * normal_(random_));
    std::vector<double> out;
    for (int i = 0; i < repetitions; ++i) out.push_back(here * (1 + 0.002 * normal_(random_)));
    return out;
  }

 private:
  double block_effect_;
  std::mt19937 random_;
  std::normal_distribution<double> normal_;
};

// Rounds of the headline.
Timing headline(double speed, double block_effect, unsigned seed) {
  Blocks block(block_effect, seed);
  Timing timing;
  for (int r = 0; r < kHeadlineRounds; ++r) {
    TimingRound round;
    for (int i = 0; i < 2; ++i) {
      for (const double s : block(1e-3 * speed, kHeadlineRepetitions)) round.baseline.push_back(s);
      for (const double s : block(1e-3, kHeadlineRepetitions)) round.candidate.push_back(s);
    }
    timing.rounds.push_back(round);
  }
  conclude(timing);
  return timing;
}

TEST(Win, SelfComparisonsAreNoWins) {
  int wins = 0;
  for (unsigned i = 0; i < 60; ++i) wins += headline(1, 0.01, i).win;
  EXPECT_EQ(wins, 0);
}

TEST(Win, SelfComparisonsInFewRoundsAreNoWins) {
  int wins = 0;
  for (unsigned i = 0; i < 60; ++i) {
    Blocks block(0.01, i);
    Timing timing;
    for (int r = 0; r < 4; ++r)
      timing.rounds.push_back({block(1e-3, 10), block(1e-3, 10)});  // what moves a side lasts for a round
    conclude(timing);
    wins += timing.win;
  }
  EXPECT_EQ(wins, 0);
}

TEST(Win, SelfComparisonsAreNoWinsWhereMeasuringStopsWhenNarrow) {
  int wins = 0;
  for (unsigned i = 0; i < 60; ++i) {
    Blocks block(0.01, i);
    const TimeBlock same = [&](int repetitions) -> Result<std::vector<double>> { return block(1e-3, repetitions); };
    const auto timed = time_interleaved({same}, same, nullptr, {.repetitions = 5, .most_rounds = 10});
    ASSERT_TRUE(timed.ok()) << timed.error().text();
    wins += (*timed)[0]->win;
  }
  EXPECT_EQ(wins, 0);
}

TEST(Win, SmallEffectsAreFoundWhereBlocksAreAlike) {
  int wins = 0;
  for (unsigned i = 0; i < 20; ++i) wins += headline(1.01, 0.002, i).win;
  EXPECT_GE(wins, 19);
  wins = 0;
  for (unsigned i = 0; i < 20; ++i) wins += headline(1.05, 0.01, i).win;
  EXPECT_GE(wins, 19);
}

TEST(Speedup, FewRoundsHaveWideIntervals) {
  // Student's t of five degrees of freedom: the mean's 99.9 % interval is 6.869 standard errors wide to each side.
  auto data = rounds(1e-3, 2e-3, 0, 6);
  for (size_t r = 0; r < 6; ++r) {
    for (double& s : data[r].baseline) s *= 1 + 0.0004 * (static_cast<double>(r) - 2.5);
  }
  const double half = 6.869 * 0.0004 * std::sqrt(3.5) / std::sqrt(6);
  EXPECT_NEAR(std::log(2 / bootstrap_speedup(data).p999[0]), half, 0.2 * half);
}

TEST(Win, OneRoundIsNone) {
  Timing timing;
  timing.rounds = rounds(1e-3, 2e-3, 0.01, 1);  // how rounds differ is not known
  conclude(timing);
  EXPECT_FALSE(timing.win);
}

TEST(Win, NeedsEffectBeyondWhatTheClockGives) {
  Timing timing;
  timing.rounds = rounds(1e-3, 1.2e-3, 0.01, 4);
  conclude(timing);
  EXPECT_TRUE(timing.win);
  EXPECT_NEAR(timing.candidate.value, 1e-3, 1e-5);
  for (TimingRound& round : timing.rounds) round.candidate_mhz = 1600;  // 7 % more
  conclude(timing);
  EXPECT_TRUE(timing.win);
  EXPECT_NE(timing.note.find("the candidate at 1600 MHz: of the speedup 1.2x, at least 1.1"), std::string::npos)
      << timing.note;
  timing.rounds = rounds(1e-3, 1.05e-3, 0.001, 4);
  for (TimingRound& round : timing.rounds) round.candidate_mhz = 1600;
  conclude(timing);
  EXPECT_GT(timing.interval999[0], 1.0);
  EXPECT_FALSE(timing.win);
  timing = {};
  timing.rounds = rounds(1e-3, 1.002e-3, 0.0001, 6);  // certain, but small
  conclude(timing);
  EXPECT_GT(timing.interval999[0], 1.0);
  EXPECT_FALSE(timing.win);
}

TEST(Win, UnknownClocksAreSaidAndNotTakenForEqual) {
  Timing timing;
  timing.rounds = rounds(1e-3, 1.2e-3, 0.01, 4);
  timing.rounds[1].candidate_mhz = 0;
  timing.rounds[1].clocks_known = false;
  conclude(timing);
  EXPECT_EQ(timing.clock_ratio, 0);
  EXPECT_NE(timing.note.find("1 of 4 rounds NVML reported no clocks"), std::string::npos) << timing.note;
}

// A candidate that is `speed` times as fast, at 1000 MHz against clocks that differ by `ratio`.
Timing at_clocks(double speed, double ratio, double wobble = 0) {
  Timing timing;
  timing.rounds = rounds(1e-3, 1e-3 * speed, 0.0001, 12);
  for (size_t r = 0; r < timing.rounds.size(); ++r) {
    timing.rounds[r].baseline_mhz = 1000;
    timing.rounds[r].candidate_mhz = 1000 * (ratio + (r % 2 ? wobble : -wobble));
  }
  conclude(timing);
  return timing;
}

TEST(Clock, WhatItGaveIsTakenOffWithoutAThreshold) {
  EXPECT_FALSE(at_clocks(1.02, 1.02).win);  // all of it is clock
  EXPECT_FALSE(at_clocks(1.029, 1.029).win);
  EXPECT_TRUE(at_clocks(1.02, 1.0).win);
  EXPECT_TRUE(at_clocks(1.02, 0.9).win);  // nothing is added
  EXPECT_DOUBLE_EQ(at_clocks(1.02, 0.9).clock_advantage, 1);
  EXPECT_NEAR(at_clocks(1.02, 1.031).clock_advantage - at_clocks(1.02, 1.029).clock_advantage, 0.002, 1e-9);
  EXPECT_TRUE(at_clocks(1.04, 1.031).win);
}

TEST(Clock, NoiseOfTheReadingsTakesNothingOff) {
  EXPECT_DOUBLE_EQ(at_clocks(1.02, 1.004, 0.01).clock_advantage, 1);  // two standard errors are 0.6 %
  const double beyond = at_clocks(1.1, 1.05, 0.01).clock_advantage;
  EXPECT_GT(beyond, 1.04);
  EXPECT_LT(beyond, 1.05);
}

TEST(Clock, MeansAreOfRoundsThatCountAndWereRead) {
  Timing timing;
  timing.rounds = rounds(1e-3, 1e-3, 0.01, 4);
  timing.rounds[0].candidate_mhz = 0;
  timing.rounds[0].clocks_known = false;
  timing.rounds[1].candidate_mhz = 600;
  timing.rounds[1].discarded = true;
  timing.rounds[2].candidate_mhz = 1400;
  EXPECT_DOUBLE_EQ(mean_clock(timing, &TimingRound::candidate_mhz).value, 1.45e9);
  for (TimingRound& round : timing.rounds) round.clocks_known = false;
  EXPECT_EQ(mean_clock(timing, &TimingRound::candidate_mhz).value, 0);
}

TEST(Throttle, OnlyThermalAndHardwareSlowdownVoid) {
  EXPECT_FALSE(voids(0x4));  // power capping: a large GEMM on an H200 always is
  EXPECT_TRUE(voids(0x20));
  EXPECT_TRUE(voids(0x48));
  EXPECT_EQ(throttle_names(0x24), (std::vector<std::string>{"software power cap", "software thermal slowdown"}));
}

// One candidate.
static Result<Timing> time_one(const TimeBlock& candidate, const TimeBlock& baseline, const ReadClocks& clocks,
                               const AbbaOptions& options = {}) {
  SOLSTICE_TRY(std::vector<Result<Timing>> only, time_interleaved({candidate}, baseline, clocks, options));
  return std::move(only[0]);
}

TEST(Abba, AsksInThatOrderAndStopsWhenNarrow) {
  std::string order;
  const TimeBlock a = [&](int n) -> Result<std::vector<double>> {
    order += 'a';
    return std::vector<double>(static_cast<size_t>(n), 1e-3);
  };
  const TimeBlock b = [&](int n) -> Result<std::vector<double>> {
    order += 'b';
    return std::vector<double>(static_cast<size_t>(n), 2e-3);
  };
  const auto timing = time_one(a, b, [] { return ClockReading{.sm_mhz = 1500}; }, {.least_rounds = 2});
  ASSERT_TRUE(timing.ok()) << timing.error().text();
  EXPECT_EQ(order, "abbaabba");
  EXPECT_DOUBLE_EQ(timing->speedup, 2);
  EXPECT_TRUE(timing->win);
  EXPECT_EQ(timing->rounds[0].candidate.size(), 20u);
  EXPECT_DOUBLE_EQ(timing->rounds[0].candidate_mhz, 1500);
}

TEST(Abba, ImpossibleTimesAndFailuresEndIt) {
  const TimeBlock good = [](int) -> Result<std::vector<double>> { return std::vector<double>{1e-3}; };
  for (const double second : {0.0, -1.0, std::nan("")}) {
    const TimeBlock bad = [=](int) -> Result<std::vector<double>> { return std::vector<double>{second}; };
    EXPECT_FALSE(time_one(bad, good, nullptr).ok());
    EXPECT_FALSE(time_one(good, bad, nullptr).ok());
  }
  const TimeBlock failing = [](int) -> Result<std::vector<double>> { return fail(Code::deadline, "too slow"); };
  EXPECT_EQ(time_one(good, failing, nullptr).error().code, Code::deadline);
}

TEST(Abba, ThermalRoundsDoNotCount) {
  const TimeBlock a = [](int) -> Result<std::vector<double>> { return std::vector<double>{1e-3}; };
  int reads = 0;
  const auto timing = time_one(a, a, [&] { return ClockReading{.sm_mhz = 1500, .throttle = reads++ < 4 ? 0x20 : 0}; },
                               {.least_rounds = 3, .most_rounds = 3});
  ASSERT_TRUE(timing.ok());
  EXPECT_TRUE(timing->rounds[0].discarded);
  EXPECT_FALSE(timing->rounds[1].discarded);
  EXPECT_NE(timing->note.find("1 of 3 rounds dropped"), std::string::npos);
}

TEST(Interleaved, GoesForwardsAndBackAndDropsWhoFails) {
  std::string order;
  int calls = 0;
  const auto block = [&order](char name, double seconds) -> TimeBlock {
    return [&order, name, seconds](int n) -> Result<std::vector<double>> {
      order += name;
      return std::vector<double>(static_cast<size_t>(n), seconds);
    };
  };
  const TimeBlock failing = [&](int n) -> Result<std::vector<double>> {
    order += 'x';
    if (++calls == 2) return fail(Code::candidate_failed, "a wrong result");
    return std::vector<double>(static_cast<size_t>(n), 1e-6);
  };
  const auto timed =
      time_interleaved({block('a', 1e-3), failing, block('c', 2e-3)}, block('b', 4e-3), nullptr, {.least_rounds = 2});
  ASSERT_TRUE(timed.ok()) << timed.error().text();
  EXPECT_EQ(order, "axcbbcxaacbbca");
  EXPECT_NE((*timed)[0]->note.find("NVML reported no clocks"), std::string::npos);  // nobody read the clocks
  EXPECT_DOUBLE_EQ((*timed)[0]->speedup, 4);
  EXPECT_EQ((*timed)[1].error().message, "a wrong result");
  EXPECT_DOUBLE_EQ((*timed)[2]->speedup, 2);
}

TEST(MedianInterval, HoldsTheMedianAndNarrowsWithSamples) {
  const std::vector<double> few = {5, 1, 3};
  EXPECT_EQ(median_interval(few), (std::array<double, 2>{1, 5}));
  std::vector<double> many;
  for (int i = 1; i <= 1001; ++i) many.push_back(i);
  const auto interval = median_interval(many);
  EXPECT_LT(interval[0], 501);
  EXPECT_GT(interval[0], 440);
  EXPECT_GT(interval[1], 501);
  EXPECT_LT(interval[1], 560);
}

TEST(TimingRecord, SurvivesJson) {
  Timing timing;
  timing.method = "events";
  timing.rounds = rounds(1e-3, 1.2e-3, 0.01, 2);
  conclude(timing);
  const auto back = from_json<Timing>(to_json(timing));
  ASSERT_TRUE(back.ok()) << back.error().text();
  EXPECT_EQ(to_json(*back), to_json(timing));
}

}  // namespace
}  // namespace solstice::run
