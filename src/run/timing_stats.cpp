#include "run/timing_stats.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/random.h"

namespace solstice::run {
namespace {

double median_in_place(std::vector<double>& values) {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  const auto middle = values.begin() + static_cast<long>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

bool counts(const TimingRound& round) {
  return !round.discarded && !round.candidate.empty() && !round.baseline.empty();
}

std::vector<const TimingRound*> counted(std::span<const TimingRound> rounds) {
  std::vector<const TimingRound*> out;
  for (const TimingRound& round : rounds) {
    if (counts(round)) out.push_back(&round);
  }
  return out;
}

double resampled_median(const std::vector<double>& values, SplitMix64& random, std::vector<double>& scratch) {
  scratch.resize(values.size());
  for (double& value : scratch) value = values[random.below(values.size())];
  return median_in_place(scratch);
}

std::array<double, 2> percentiles(const std::vector<double>& sorted, double outside) {
  const double last = static_cast<double>(sorted.size() - 1);
  return {sorted[static_cast<size_t>(std::floor(outside / 2 * last))],
          sorted[static_cast<size_t>(std::ceil((1 - outside / 2) * last))]};
}

// Two-sided quantiles of Student's t; the last row is the normal distribution's.
struct Student {
  double freedom, p95, p999;
};
constexpr Student kStudent[] = {
    {1, 12.706, 636.62}, {2, 4.303, 31.599},  {3, 3.182, 12.924}, {4, 2.776, 8.610},  {5, 2.571, 6.869},
    {6, 2.447, 5.959},   {7, 2.365, 5.408},   {8, 2.306, 5.041},  {9, 2.262, 4.781},  {10, 2.228, 4.587},
    {11, 2.201, 4.437},  {12, 2.179, 4.318},  {15, 2.131, 4.073}, {20, 2.086, 3.850}, {30, 2.042, 3.646},
    {60, 2.000, 3.460},  {1e9, 1.960, 3.291},
};

std::array<double, 2> stretched(const std::array<double, 2>& interval, double speedup, size_t rounds,
                                double Student::*quantile) {
  if (rounds < 2) return interval;
  const double n = static_cast<double>(rounds);
  const Student* row = std::end(kStudent) - 1;
  while (row->freedom > n - 1) --row;
  const double factor = row->*quantile / (std::end(kStudent) - 1)->*quantile * std::sqrt(n / (n - 1));
  return {speedup * std::pow(interval[0] / speedup, factor), speedup * std::pow(interval[1] / speedup, factor)};
}

struct ReasonName {
  int64_t bit;
  const char* name;
  bool voids;
};
constexpr ReasonName kReasons[] = {
    {0x2, "applications clocks setting", false},
    {0x4, "software power cap", false},
    {0x8, "hardware slowdown", true},
    {0x10, "sync boost", false},
    {0x20, "software thermal slowdown", true},
    {0x40, "hardware thermal slowdown", true},
    {0x80, "hardware power brake", true},
    {0x100, "display clock setting", false},
};

}  // namespace

double median(std::span<const double> values) {
  std::vector<double> copy(values.begin(), values.end());
  return median_in_place(copy);
}

std::array<double, 2> median_interval(std::span<const double> values, double z) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  if (values.empty()) return {nan, nan};
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  const double n = static_cast<double>(sorted.size());
  const double low = std::floor((n - z * std::sqrt(n)) / 2), high = std::ceil((n + z * std::sqrt(n)) / 2);
  const auto at = [&](double rank) { return sorted[static_cast<size_t>(std::clamp(rank, 0.0, n - 1))]; };
  return {at(low), at(high)};
}

double speedup_of(std::span<const TimingRound> rounds) {
  double sum = 0;
  const auto used = counted(rounds);
  for (const TimingRound* round : used) sum += std::log(median(round->baseline) / median(round->candidate));
  return used.empty() ? std::numeric_limits<double>::quiet_NaN() : std::exp(sum / static_cast<double>(used.size()));
}

Intervals bootstrap_speedup(std::span<const TimingRound> rounds, int resamples, uint64_t seed) {
  const auto used = counted(rounds);
  if (used.empty() || resamples < 1) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    return {{nan, nan}, {nan, nan}};
  }
  SplitMix64 random(seed);
  std::vector<double> ratios, scratch;
  for (int i = 0; i < resamples; ++i) {
    double sum = 0;
    for (size_t r = 0; r < used.size(); ++r) {
      const TimingRound& round = *used[used.size() > 1 ? random.below(used.size()) : r];
      sum += std::log(resampled_median(round.baseline, random, scratch) /
                      resampled_median(round.candidate, random, scratch));
    }
    ratios.push_back(std::exp(sum / static_cast<double>(used.size())));
  }
  std::sort(ratios.begin(), ratios.end());
  const double speedup = speedup_of(rounds);
  return {stretched(percentiles(ratios, 0.05), speedup, used.size(), &Student::p95),
          stretched(percentiles(ratios, 0.001), speedup, used.size(), &Student::p999)};
}

std::vector<std::string> throttle_names(int64_t bits) {
  std::vector<std::string> out;
  for (const ReasonName& reason : kReasons) {
    if (bits & reason.bit) out.emplace_back(reason.name);
  }
  return out;
}

bool voids(int64_t bits) {
  return std::any_of(std::begin(kReasons), std::end(kReasons),
                     [&](const ReasonName& r) { return r.voids && (bits & r.bit); });
}

Hertz mean_clock(const Timing& timing, double TimingRound::*mhz) {
  double sum = 0, rounds = 0;
  for (const TimingRound* round : counted(timing.rounds)) {
    if (!round->clocks_known) continue;
    sum += round->*mhz;
    ++rounds;
  }
  return Hertz(rounds > 0 ? sum * 1e6 / rounds : 0);
}

double clock_advantage(const Timing& timing) {
  if (timing.clock_ratio <= 0) return 1;
  const auto rounds = counted(timing.rounds);
  double squares = 0;
  for (const TimingRound* round : rounds)
    squares += std::pow(round->candidate_mhz / round->baseline_mhz - timing.clock_ratio, 2);
  const double n = static_cast<double>(rounds.size());
  const double noise = n > 1 ? 2 * std::sqrt(squares / (n - 1) / n) : 0;
  return std::max(1.0, timing.clock_ratio - noise);
}

std::string clock_text(const Timing& timing) {
  return fmt::format(
      "the original ran at {:.0f} MHz, the candidate at {:.0f} MHz: of the speedup {:.3g}x, at least {:.3g}x "
      "is not due to the clock",
      mean_clock(timing, &TimingRound::baseline_mhz).value * 1e-6,
      mean_clock(timing, &TimingRound::candidate_mhz).value * 1e-6, timing.speedup,
      timing.speedup / timing.clock_advantage);
}

bool is_win(double speedup, double low999, double clock_advantage) {
  return low999 / clock_advantage > 1 && speedup / clock_advantage >= kLeastEffect;
}

// The ratio of the mean clocks; 0 unless all clocks of the rounds that count were read.
static double clock_ratio(const Timing& timing) {
  const auto rounds = counted(timing.rounds);
  const auto known = [](const TimingRound* round) {
    return round->clocks_known && round->candidate_mhz > 0 && round->baseline_mhz > 0;
  };
  if (rounds.empty() || !std::all_of(rounds.begin(), rounds.end(), known)) return 0;
  return mean_clock(timing, &TimingRound::candidate_mhz) / mean_clock(timing, &TimingRound::baseline_mhz);
}

static std::string note_of(const Timing& timing) {
  constexpr double kNotedClocks = 0.03;  // so far apart they are told, whichever side has the higher one
  std::vector<std::string> notes;
  const size_t rounds = timing.rounds.size();
  const auto dropped =
      std::count_if(timing.rounds.begin(), timing.rounds.end(), [](const TimingRound& r) { return r.discarded; });
  const auto unread = std::count_if(timing.rounds.begin(), timing.rounds.end(),
                                    [](const TimingRound& r) { return counts(r) && !r.clocks_known; });
  if (dropped > 0)
    notes.push_back(fmt::format("{} of {} rounds dropped: thermal or hardware slowdown", dropped, rounds));
  if (unread > 0) {
    notes.push_back(fmt::format(
        "in {} of {} rounds NVML reported no clocks or throttle reasons: both sides may have run at different "
        "clocks",
        unread, rounds));
  }
  const bool apart = timing.clock_ratio > 0 && std::abs(timing.clock_ratio - 1) > kNotedClocks;
  if (apart || timing.clock_advantage >= kLeastEffect) notes.push_back(clock_text(timing));
  return fmt::format("{}", fmt::join(notes, "; "));
}

void conclude(Timing& timing) {
  std::vector<double> candidate, baseline;
  int64_t reasons = 0;
  for (const TimingRound& round : timing.rounds) {
    reasons |= round.throttle;
    if (!counts(round)) continue;
    candidate.insert(candidate.end(), round.candidate.begin(), round.candidate.end());
    baseline.insert(baseline.end(), round.baseline.begin(), round.baseline.end());
  }
  timing.candidate = Seconds(median(candidate));
  timing.baseline = Seconds(median(baseline));
  timing.speedup = speedup_of(timing.rounds);
  const Intervals intervals = bootstrap_speedup(timing.rounds);
  timing.interval95 = intervals.p95;
  timing.interval999 = intervals.p999;
  timing.relative_error = (intervals.p95[1] - intervals.p95[0]) / 2 / timing.speedup;
  timing.clock_ratio = clock_ratio(timing);
  timing.clock_advantage = clock_advantage(timing);
  timing.throttle = throttle_names(reasons);
  timing.win =
      counted(timing.rounds).size() > 1 && is_win(timing.speedup, timing.interval999[0], timing.clock_advantage);
  timing.note = note_of(timing);
}

}  // namespace solstice::run
