#include "run/abba.h"

#include <fmt/format.h>

#include <cmath>

#include "base/clock.h"
#include "run/timing_stats.h"

namespace solstice::run {
namespace {

class Round {
 public:
  Round(const ReadClocks& clocks, int repetitions) : clocks_(clocks), repetitions_(repetitions) {}

  Status block(const TimeBlock& time, std::vector<double>& samples, double& mhz) {
    SOLSTICE_TRY(const std::vector<double> seconds, time(repetitions_));
    for (const double second : seconds) {
      // A zero would win any comparison.
      if (!std::isfinite(second) || second <= 0) return fail(Code::candidate_failed, fmt::format("a block measured {} s", second));
      samples.push_back(second);
    }
    if (!clocks_) return success();
    const ClockReading reading = clocks_();
    mhz += reading.sm_mhz / 2.0;
    out.throttle |= reading.throttle;
    return success();
  }

  TimingRound out;

 private:
  const ReadClocks& clocks_;
  int repetitions_;
};

Result<TimingRound> one_round(const TimeBlock& a, const TimeBlock& b, const ReadClocks& clocks, int repetitions) {
  Round round(clocks, repetitions);
  SOLSTICE_CHECK(round.block(a, round.out.candidate, round.out.candidate_mhz));
  SOLSTICE_CHECK(round.block(b, round.out.baseline, round.out.baseline_mhz));
  SOLSTICE_CHECK(round.block(b, round.out.baseline, round.out.baseline_mhz));
  SOLSTICE_CHECK(round.block(a, round.out.candidate, round.out.candidate_mhz));
  round.out.discarded = voids(round.out.throttle);
  return round.out;
}

}  // namespace

Result<Timing> time_abba(const TimeBlock& candidate, const TimeBlock& baseline, const ReadClocks& clocks,
                         const AbbaOptions& options) {
  const Seconds begin = monotonic_now();
  const Deadline deadline(options.budget);
  Timing out;
  out.method = options.method;
  for (int i = 0; i < options.most_rounds; ++i) {
    SOLSTICE_TRY(TimingRound round, one_round(candidate, baseline, clocks, options.repetitions));
    out.rounds.push_back(std::move(round));
    if (i + 1 < options.least_rounds) continue;
    const double speedup = speedup_of(out.rounds);
    const Intervals rough = bootstrap_speedup(out.rounds, 500);
    if (deadline.passed() || (rough.p95[1] - rough.p95[0]) / 2 / speedup <= options.narrow_enough) break;
  }
  conclude(out);
  out.wall = monotonic_now() - begin;
  return out;
}

}  // namespace solstice::run
