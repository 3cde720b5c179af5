// Statistics of timings. Resampling uses a fixed seed: the same samples give the same interval.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "record/timing.h"

namespace solstice::run {

double median(std::span<const double> values);  // mean of the middle two of an even number; NaN of nothing

// Interval of the median by order statistics: no assumption on the distribution, except that samples are independent.
std::array<double, 2> median_interval(std::span<const double> values, double z = 3.29);  // 3.29: 99.9 %

// baseline / candidate: geometric mean, over the rounds that count, of the ratio of the round's medians.
double speedup_of(std::span<const TimingRound> rounds);

struct Intervals {
  std::array<double, 2> p95{}, p999{};
};

// Hierarchical bootstrap of speedup_of: rounds are drawn with replacement, then samples within each, so that what
// differs between rounds widens the interval as it should. Percentiles of few draws are too narrow (Hesterberg 2015,
// "What Teachers Should Know About the Bootstrap", 4.1 and 4.4): of n rounds their distance from the speedup is
// multiplied by sqrt(n / (n - 1)) and by the ratio of Student's t to the normal quantile. One round: samples only, as
// they are.
Intervals bootstrap_speedup(std::span<const TimingRound> rounds, int resamples = 10000, uint64_t seed = 0x5017);

constexpr double kLeastEffect = 1.005;

// A headline, one try: docs/measuring.md says what these were chosen by.
constexpr int kHeadlineRounds = 12, kHeadlineRepetitions = 3;  // of a block; a round has two blocks a side

// Mean clock of one side over the rounds that count and whose clocks were read; 0: there is none.
Hertz mean_clock(const Timing& timing, double TimingRound::*mhz);

// Gain of the candidate that a higher clock may explain: the ratio of the mean clocks (candidate over baseline) less
// the noise of the readings, two standard errors of the rounds' ratios; at least 1. Power caps one side more than the
// other without anything being wrong. 1 too where the clock of a round that counts was not read: `clock_ratio` is 0
// then, and `note` says so.
double clock_advantage(const Timing& timing);

// The difference of the clocks, and the part of the speedup that does not come from it.
std::string clock_text(const Timing& timing);

// A win: the 99.9 % interval of the speedup lies above 1 and the speedup is at least 1.005, both divided by
// the clock's advantage. (With 95 % intervals, fifty self-comparisons would nearly always invent a win.)
bool is_win(double speedup, double low999, double clock_advantage);

// Fills everything of `timing` that follows from its rounds.
void conclude(Timing& timing);

// Names of NVML's throttle reasons in `bits`; which of them void a measurement (thermal, hardware slowdown).
std::vector<std::string> throttle_names(int64_t bits);
bool voids(int64_t bits);

}  // namespace solstice::run
