#include "flow/measured.h"

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

}  // namespace solstice::flow
