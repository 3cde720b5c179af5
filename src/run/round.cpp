#include "run/round.h"

#include "run/timing_stats.h"

namespace solstice::run {

void add_block(TimingRound& round, Side side, std::span<const double> seconds, const ClockReading& clocks) {
  const bool candidate = side == Side::kCandidate;
  std::vector<double>& samples = candidate ? round.candidate : round.baseline;
  samples.insert(samples.end(), seconds.begin(), seconds.end());
  (candidate ? round.candidate_mhz : round.baseline_mhz) += clocks.sm_mhz / 2.0;  // their mean: there are two
  round.throttle |= clocks.throttle.value_or(0);
  round.discarded = voids(round.throttle);
  round.clocks_known = round.clocks_known && clocks.sm_mhz > 0 && clocks.throttle;
}

}  // namespace solstice::run
