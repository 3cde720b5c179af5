#include "run/abba.h"

#include <fmt/format.h>

#include <cmath>

#include "base/clock.h"
#include "run/timing_stats.h"

namespace solstice::run {
namespace {

struct Side {
  std::vector<double> samples;
  double mhz = 0;
  int64_t throttle = 0;
  bool known = true;
};

Status time_side(const TimeBlock& time, const ReadClocks& clocks, int repetitions, Side& into) {
  SOLSTICE_TRY(const std::vector<double> seconds, time(repetitions));
  for (const double second : seconds) {
    // A zero would win any comparison.
    if (!std::isfinite(second) || second <= 0) return fail(Code::candidate_failed, fmt::format("a block measured {} s", second));
    into.samples.push_back(second);
  }
  const ClockReading reading = clocks ? clocks() : ClockReading{};
  into.known = into.known && reading.sm_mhz > 0 && reading.throttle;
  into.mhz += reading.sm_mhz / 2.0;
  into.throttle |= reading.throttle.value_or(0);
  return success();
}

class Interleaving {
 public:
  Interleaving(const std::vector<TimeBlock>& candidates, const TimeBlock& baseline, const ReadClocks& clocks, const AbbaOptions& options)
      : candidates_(candidates),
        baseline_(baseline),
        clocks_(clocks),
        options_(options),
        errors_(candidates.size()),
        timings_(candidates.size()) {
    for (Timing& timing : timings_) timing.method = options.method;
  }

  Status round() {
    std::vector<Side> sides(candidates_.size());
    Side base;
    for (size_t c = 0; c < candidates_.size(); ++c) SOLSTICE_CHECK(block(c, sides[c]));
    for (int i = 0; i < 2; ++i) {
      SOLSTICE_CHECK(time_side(baseline_, clocks_, options_.repetitions, base).context("timing the baseline"));
    }
    for (size_t c = candidates_.size(); c-- > 0;) SOLSTICE_CHECK(block(c, sides[c]));
    for (size_t c = 0; c < candidates_.size(); ++c) {
      const int64_t throttle = sides[c].throttle | base.throttle;
      timings_[c].rounds.push_back(
          {std::move(sides[c].samples), base.samples, sides[c].mhz, base.mhz, throttle, voids(throttle), sides[c].known && base.known});
    }
    return success();
  }

  bool any_left() const {
    for (const auto& error : errors_) {
      if (!error) return true;
    }
    return false;
  }

  bool narrow() const {
    double best = 0, spread = 0;
    for (size_t c = 0; c < timings_.size(); ++c) {
      const double speedup = errors_[c] ? 0 : speedup_of(timings_[c].rounds);
      if (!(speedup > best)) continue;
      const Intervals rough = bootstrap_speedup(timings_[c].rounds, 500);
      best = speedup;
      spread = (rough.p95[1] - rough.p95[0]) / 2;
    }
    return best > 0 && spread / best <= options_.narrow_enough;
  }

  std::vector<Result<Timing>> conclusions(Seconds wall) {
    std::vector<Result<Timing>> out;
    for (size_t c = 0; c < timings_.size(); ++c) {
      if (errors_[c]) {
        out.emplace_back(*errors_[c]);
        continue;
      }
      conclude(timings_[c]);
      timings_[c].wall = wall;
      out.emplace_back(std::move(timings_[c]));
    }
    return out;
  }

 private:
  Status block(size_t c, Side& into) {
    if (errors_[c]) return success();
    Status done = time_side(candidates_[c], clocks_, options_.repetitions, into);
    if (done.ok() || done.error().code != Code::candidate_failed) return done;
    errors_[c] = std::move(done).error();
    return success();
  }

  const std::vector<TimeBlock>& candidates_;
  const TimeBlock& baseline_;
  const ReadClocks& clocks_;
  const AbbaOptions& options_;
  std::vector<std::optional<Error>> errors_;
  std::vector<Timing> timings_;
};

}  // namespace

Result<std::vector<Result<Timing>>> time_interleaved(const std::vector<TimeBlock>& candidates, const TimeBlock& baseline,
                                                     const ReadClocks& clocks, const AbbaOptions& options) {
  const Seconds begin = monotonic_now();
  const Deadline deadline(options.budget);
  Interleaving all(candidates, baseline, clocks, options);
  for (int i = 0; i < options.most_rounds && all.any_left(); ++i) {
    SOLSTICE_CHECK(all.round());
    if (i + 1 < options.least_rounds) continue;
    if (deadline.passed() || all.narrow()) break;
  }
  return all.conclusions(monotonic_now() - begin);
}

}  // namespace solstice::run
