#include "flow/run/report/measured.h"

#include "run/timing_stats.h"

namespace solstice::flow {

Measured measured_of(const std::vector<double>& seconds) {
  Measured out;
  if (seconds.empty()) return out;
  const auto interval = run::median_interval(seconds);
  out.median = Seconds(run::median(seconds));
  out.low = Seconds(interval[0]);
  out.high = Seconds(interval[1]);
  out.samples = static_cast<int>(seconds.size());
  return out;
}

Measured measured_of(const Timing& timing, std::vector<double> TimingRound::*side) {
  std::vector<double> seconds;
  for (const TimingRound& round : timing.rounds) {
    if (!round.discarded) seconds.insert(seconds.end(), (round.*side).begin(), (round.*side).end());
  }
  return measured_of(seconds);
}

}  // namespace solstice::flow
