#include "flow/headline.h"

#include <fmt/format.h>

#include <cmath>

#include "flow/report_text.h"
#include "run/timing_stats.h"

namespace solstice::flow {

void HeadlineClocks::add(size_t side, const ClockReading& reading) {
  ++blocks_;
  if (reading.sm_mhz <= 0 || !reading.throttle) ++unread_;
  throttle_ |= reading.throttle.value_or(0);
  if (reading.sm_mhz <= 0) return;
  sides_[side].mhz += reading.sm_mhz;
  ++sides_[side].read;
}

Hertz HeadlineClocks::mean(size_t side) const {
  return Hertz(sides_[side].read ? sides_[side].mhz * 1e6 / sides_[side].read : 0);
}

std::string HeadlineClocks::objection() const {
  if (run::voids(throttle_)) return fmt::format("the GPU was throttled while it was measured ({})", fmt::join(run::throttle_names(throttle_), ", "));
  return "";
}

double HeadlineClocks::ratio() const {
  const Hertz original = mean(0), replacement = mean(1);
  return original.value > 0 && replacement.value > 0 ? replacement / original : 0;
}

std::string HeadlineClocks::difference(double speedup) const {
  const double found = ratio();
  if (found <= 0 || std::abs(found - 1) <= run::kClockTolerance) return "";
  return fmt::format("the original ran at {:.0f} MHz, the drop-in at {:.0f} MHz: of {:.3g}x, at least {:.3g}x do not come from the clock",
                     mean(0).value * 1e-6, mean(1).value * 1e-6, speedup, speedup / run::clock_advantage(found));
}

std::string HeadlineClocks::unknown() const {
  if (blocks_ > 0 && unread_ == 0) return "";
  return fmt::format("after {} of {} blocks NVML did not tell clock or throttle reasons: whether both sides of the headline ran alike is "
                     "not known", unread_, blocks_);
}

std::string disagreement(const Timing& judge, const OracleComparison& headline) {
  const double ratio = headline.speedup / judge.speedup;
  if (ratio > 0.95 && ratio < 1.05) return "";
  const double original = headline.medians[0] / judge.baseline.value, replacement = headline.medians[1] / judge.candidate.value;
  const bool first = std::abs(std::log(original)) > std::abs(std::log(replacement));
  return fmt::format("the judge has {} for the original and {} for the kernels ({:.3g}x), Python has {} for `Model.forward` and {} for "
                     "`ModelNew.forward` ({:.3g}x). It is the {} that differs most, by {:+.1f} % in Python, the other by {:+.1f} %",
                     time_text(judge.baseline), time_text(judge.candidate), judge.speedup, time_text(Seconds(headline.medians[0])),
                     time_text(Seconds(headline.medians[1])), headline.speedup, first ? "original" : "replacement",
                     100 * ((first ? original : replacement) - 1), 100 * ((first ? replacement : original) - 1));
}

}  // namespace solstice::flow
