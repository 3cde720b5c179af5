#include "flow/run/stages/finals/headline.h"

#include <gtest/gtest.h>

#include "run/timing_stats.h"

namespace solstice::flow {
namespace {

ClockReading reading(int mhz, std::optional<int64_t> throttle = 0) {
  ClockReading out;
  out.sm_mhz = mhz;
  out.throttle = throttle;
  return out;
}

// One try as the oracle sends it, of the given seconds a call.
OracleComparison comparison(int rounds, double original, double replacement) {
  OracleComparison out;
  for (int r = 0; r < rounds; ++r) {
    for (const bool first : {true, false, false, true}) {
      const double seconds = first ? original : replacement;
      out.blocks.push_back({first ? "original" : "drop-in", {seconds, seconds * 1.001, seconds * 0.999}});
    }
  }
  out.compared = 6 * rounds;
  out.excess = 0.1;
  return out;
}

// Readings after the blocks of `rounds` rounds.
std::vector<ClockReading> readings(int rounds, int original, int replacement) {
  std::vector<ClockReading> out;
  for (int r = 0; r < rounds; ++r) {
    for (const int mhz : {original, replacement, replacement, original}) out.push_back(reading(mhz));
  }
  return out;
}

Result<std::vector<TimingRound>> rounds_of(const OracleComparison& found, const std::vector<ClockReading>& clocks,
                                           double limit = 1) {
  return headline_rounds(found, clocks, limit);
}

TEST(HeadlineRounds, FourBlocksAreOneRound) {
  OracleComparison found = comparison(2, 2e-3, 1e-3);
  found.blocks[4].seconds = {5e-3};
  const auto rounds = rounds_of(found, readings(2, 1500, 1600));
  ASSERT_TRUE(rounds.ok()) << rounds.error().text();
  ASSERT_EQ(rounds->size(), 2u);
  EXPECT_EQ((*rounds)[0].candidate.size(), 6u);
  EXPECT_EQ((*rounds)[0].candidate[0], 1e-3);
  EXPECT_EQ((*rounds)[0].baseline[0], 2e-3);
  EXPECT_EQ((*rounds)[1].baseline, (std::vector<double>{5e-3, 2e-3, 2e-3 * 1.001, 2e-3 * 0.999}));
  EXPECT_DOUBLE_EQ((*rounds)[0].baseline_mhz, 1500);
  EXPECT_DOUBLE_EQ((*rounds)[0].candidate_mhz, 1600);
  EXPECT_TRUE((*rounds)[0].clocks_known);
}

TEST(HeadlineRounds, SlowdownAndUnreadClocksAreOfTheirRound) {
  auto clocks = readings(3, 1500, 1500);
  clocks[1].throttle = 0x20;
  clocks[6] = reading(0, std::nullopt);
  clocks[8].throttle = 0x4;  // power capping does not count against it
  const auto rounds = rounds_of(comparison(3, 2e-3, 1e-3), clocks);
  ASSERT_TRUE(rounds.ok()) << rounds.error().text();
  EXPECT_TRUE((*rounds)[0].discarded);
  EXPECT_TRUE((*rounds)[0].clocks_known);
  EXPECT_FALSE((*rounds)[1].clocks_known);
  EXPECT_FALSE((*rounds)[1].discarded);
  EXPECT_FALSE((*rounds)[2].discarded);
  EXPECT_EQ((*rounds)[2].throttle, 0x4);
}

TEST(HeadlineRounds, ABrokenAnswerIsRefused) {
  const auto refused = [](const OracleComparison& found, const std::vector<ClockReading>& clocks) {
    const auto rounds = rounds_of(found, clocks);
    return !rounds.ok() && rounds.error().code == Code::process_failed;
  };
  OracleComparison found = comparison(2, 2e-3, 1e-3);
  EXPECT_TRUE(refused(found, readings(1, 1500, 1500)));  // a block without its reading
  EXPECT_TRUE(refused({}, {}));
  std::swap(found.blocks[1], found.blocks[3]);  // not in ABBA order
  EXPECT_TRUE(refused(found, readings(2, 1500, 1500)));
  found = comparison(2, 2e-3, 1e-3);
  found.blocks.pop_back();
  auto clocks = readings(2, 1500, 1500);
  clocks.pop_back();
  EXPECT_TRUE(refused(found, clocks));
  for (const double seconds : {0.0, -1.0}) {  // it would win any comparison
    found = comparison(2, 2e-3, 1e-3);
    found.blocks[2].seconds[0] = seconds;
    EXPECT_TRUE(refused(found, readings(2, 1500, 1500)));
  }
  found.blocks[2].seconds.clear();
  EXPECT_TRUE(refused(found, readings(2, 1500, 1500)));
}

TEST(Headline, HasTheJudgesStatistics) {
  Timing timing;
  timing.rounds = rounds_of(comparison(12, 2e-3, 1e-3), readings(12, 1500, 1500)).value();
  run::conclude(timing);
  EXPECT_NEAR(timing.speedup, 2, 1e-6);
  EXPECT_EQ(timing.interval999, run::bootstrap_speedup(timing.rounds).p999);
  EXPECT_TRUE(timing.win);
  EXPECT_EQ(objection(timing), "");
}

TEST(Headline, SlowdownInMostRoundsIsAnObjection) {
  Timing timing;
  timing.rounds = rounds_of(comparison(4, 2e-3, 1e-3), readings(4, 1500, 1500)).value();
  for (size_t r : {0u, 1u}) {
    timing.rounds[r].discarded = true;
    timing.rounds[r].throttle = 0x20;
  }
  run::conclude(timing);
  EXPECT_EQ(objection(timing), "");  // the others count
  timing.rounds[2].discarded = true;
  run::conclude(timing);
  EXPECT_EQ(objection(timing), "the GPU was throttled in 3 of 4 rounds (software thermal slowdown)");
}

TEST(HeadlineRounds, ADropinThatFellBackHasNone) {
  OracleComparison found = comparison(2, 2e-3, 1e-3);
  found.fallbacks = {"argument 0 has another shape"};
  const auto rounds = rounds_of(found, readings(2, 1500, 1500));
  ASSERT_FALSE(rounds.ok());
  EXPECT_EQ(rounds.error().code, Code::candidate_failed);
  EXPECT_EQ(rounds.error().message,
            "the drop-in went back to the original while it was timed: argument 0 has another shape");
}

TEST(HeadlineRounds, AResultOfOtherInputsIsNone) {
  OracleComparison found = comparison(2, 2e-3, 1e-3);
  for (const bool fresh : {true, false}) {  // without other content results are compared too
    found.fresh_content = fresh;
    for (const std::optional<double>& excess : {std::optional<double>(1.5), std::optional<double>()}) {
      found.excess = excess;
      const auto rounds = rounds_of(found, readings(2, 1500, 1500));
      ASSERT_FALSE(rounds.ok());
      EXPECT_EQ(rounds.error().code, Code::candidate_failed);
    }
  }
  found.excess = 1.5;
  EXPECT_TRUE(rounds_of(found, readings(2, 1500, 1500), 2).ok());
}

TEST(HeadlineRounds, EveryTimedResultIsCompared) {
  OracleComparison found = comparison(2, 2e-3, 1e-3);
  for (const int64_t compared : {11, 13, 0, -1}) {
    found.compared = compared;
    const auto rounds = rounds_of(found, readings(2, 1500, 1500));
    ASSERT_FALSE(rounds.ok());
    EXPECT_EQ(rounds.error().code, Code::process_failed);
  }
}

TEST(HeadlineRounds, TheirLimitIsTheCheckedDropinsOwn) {
  OracleDropinCheck check;
  EXPECT_EQ(timed_limit(check), 1);
  check.trials = {OracleTrial{42, true, "", 0.1, {}, {}}, OracleTrial{43, true, "", 0.2, {}, {}}};
  EXPECT_EQ(timed_limit(check), 1);
  check.trials.push_back(OracleTrial{44, false, "", 5, 6, 0.1});  // the original is off
  EXPECT_EQ(timed_limit(check), 20);
}

// Tries of 12 rounds, 1.02x each, with these clocks of the drop-in beside the original's 1000 MHz.
Result<Timing> tries(std::vector<int> clocks, size_t& made) {
  made = 0;
  return time_in_tries(true, [&]() -> Result<std::vector<TimingRound>> {
    return rounds_of(comparison(12, 1.02e-3, 1e-3), readings(12, 1000, clocks.at(made++)));
  });
}

TEST(HeadlineTries, OneIsEnoughWhereClocksDecideNothing) {
  size_t made = 0;
  EXPECT_TRUE(tries({1000}, made)->win);
  EXPECT_EQ(made, 1u);
}

TEST(HeadlineTries, AreHeldTogether) {
  size_t made = 0;
  auto timing = tries({1020, 1020, 1020}, made);  // all of the gain may be clock
  ASSERT_TRUE(timing.ok()) << timing.error().text();
  EXPECT_EQ(made, 3u);
  EXPECT_EQ(timing->rounds.size(), 36u);
  EXPECT_FALSE(timing->win);
  EXPECT_TRUE(tries({1012}, made)->win);
  timing = tries({1020, 1020, 1012}, made);  // what would win alone does not as one of three
  EXPECT_EQ(made, 3u);
  EXPECT_FALSE(timing->win);
  timing = tries({1020, 980}, made);  // together they ran alike
  EXPECT_EQ(made, 2u);
  EXPECT_TRUE(timing->win);
}

// Rounds whose drop-in takes these times, one after the other; the original takes 1 ms.
Result<Timing> noisy_tries(const std::vector<double>& seconds, size_t& made, bool kernels_won = true) {
  made = 0;
  return time_in_tries(kernels_won, [&]() -> Result<std::vector<TimingRound>> {
    ++made;
    std::vector<TimingRound> all;
    for (const double each : seconds) {
      SOLSTICE_TRY(std::vector<TimingRound> one, rounds_of(comparison(1, 1e-3, each), readings(1, 1000, 1000)));
      all.push_back(std::move(one[0]));
    }
    return all;
  });
}

TEST(HeadlineTries, NoiseIsMeasuredAgainWhileTheDropinSeemsFaster) {
  size_t made = 0;
  const std::vector<double> seems_faster = {0.5e-3, 0.9e-3, 1.2e-3, 0.6e-3, 0.7e-3, 1.1e-3};
  auto timing = noisy_tries(seems_faster, made);
  ASSERT_TRUE(timing.ok()) << timing.error().text();
  EXPECT_TRUE(timing->win);
  EXPECT_GT(made, 1u);
  timing = noisy_tries({0.9e-3, 1.3e-3, 0.8e-3, 1.1e-3}, made);  // it seems slower
  EXPECT_FALSE(timing->win);
  EXPECT_EQ(made, 1u);
  timing = noisy_tries({0.7e-3, 1.4e-3, 0.5e-3, 1.9e-3}, made);  // even: all six are alike
  EXPECT_FALSE(timing->win);
  EXPECT_EQ(made, 6u);
  timing = noisy_tries({0.7e-3, 1.4e-3, 0.5e-3, 1.9e-3}, made, false);  // the kernels are no faster by themselves
  EXPECT_EQ(made, 1u);
}

TEST(HeadlineTries, AFailureEndsThem) {
  const auto timing =
      time_in_tries(true, []() -> Result<std::vector<TimingRound>> { return fail(Code::process_failed, "gone"); });
  EXPECT_EQ(timing.error().code, Code::process_failed);
}

TEST(Disagreement, NamesMediansAndTheSide) {
  Timing judge, headline;
  judge.baseline = Seconds(1e-3);
  judge.candidate = Seconds(5e-4);
  judge.speedup = 2;
  headline.baseline = Seconds(1.01e-3);
  headline.candidate = Seconds(6e-4);
  headline.speedup = 1.01e-3 / 6e-4;
  EXPECT_EQ(
      disagreement(judge, headline),
      "the judge has 1 ms for the original and 500 us for the kernels (2x), Python has 1.01 ms for `Model.forward` and "
      "600 us for "
      "`ModelNew.forward` (1.68x). It is the replacement that differs most, by +20.0 % in Python, the other by +1.0 %");
  headline.baseline = Seconds(1e-3);
  headline.candidate = Seconds(5.1e-4);
  headline.speedup = 1e-3 / 5.1e-4;
  EXPECT_EQ(disagreement(judge, headline), "");
}

TEST(Headline, IsNoFasterThanItsKernels) {
  Timing judge, headline;
  judge.candidate = Seconds(100e-6);
  for (const double possible : {95e-6, 89.5e-6, 140e-6}) {
    headline.candidate = Seconds(possible);
    EXPECT_EQ(impossible(judge, headline), "") << possible;
  }
  headline.candidate = Seconds(80e-6);
  EXPECT_NE(impossible(judge, headline).find("it took 80 us, but its kernels take 100 us"), std::string::npos)
      << impossible(judge, headline);
  judge.candidate = Seconds(2.5e-6), headline.candidate = Seconds(1.6e-6);  // a clock's grain
  EXPECT_EQ(impossible(judge, headline), "");
}

}  // namespace
}  // namespace solstice::flow
