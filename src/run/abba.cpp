#include "run/abba.h"

#include <fmt/format.h>

#include <cmath>

#include "base/clock.h"
#include "run/round.h"
#include "run/timing_stats.h"

namespace solstice::run {
namespace {

struct Block {
  std::vector<double> seconds;
  ClockReading clocks;  // after it and what belongs to it: checks of what it wrote, inputs put back
};

Result<Block> time_block(const TimeBlock& time, const ReadClocks& clocks, int repetitions) {
  Block out;
  SOLSTICE_TRY(out.seconds, time(repetitions));
  for (const double second : out.seconds) {
    // A zero would win any comparison.
    if (!std::isfinite(second) || second <= 0)
      return fail(Code::candidate_failed, fmt::format("a block measured {} s", second));
  }
  if (clocks) out.clocks = clocks();
  return out;
}

class Interleaving {
 public:
  Interleaving(const std::vector<TimeBlock>& candidates, const TimeBlock& baseline, const ReadClocks& clocks,
               const AbbaOptions& options)
      : candidates_(candidates),
        baseline_(baseline),
        clocks_(clocks),
        options_(options),
        errors_(candidates.size()),
        timings_(candidates.size()) {
    for (Timing& timing : timings_) timing.method = options.method;
  }

  Status round() {
    for (Timing& timing : timings_) timing.rounds.emplace_back();
    for (size_t c = 0; c < timings_.size(); ++c) SOLSTICE_CHECK(candidate_block(c));
    for (int i = 0; i < 2; ++i) SOLSTICE_CHECK(baseline_block().context("timing the baseline"));
    for (size_t c = timings_.size(); c-- > 0;) SOLSTICE_CHECK(candidate_block(c));
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
  Status candidate_block(size_t c) {
    if (errors_[c]) return success();
    const Result<Block> timed = time_block(candidates_[c], clocks_, options_.repetitions);
    if (timed.ok()) {
      add_block(timings_[c].rounds.back(), Side::kCandidate, timed->seconds, timed->clocks);
    } else if (timed.error().code == Code::candidate_failed) {
      errors_[c] = timed.error();
    } else {
      return timed.error();
    }
    return success();
  }

  Status baseline_block() {
    SOLSTICE_TRY(const Block timed, time_block(baseline_, clocks_, options_.repetitions));
    for (Timing& timing : timings_) add_block(timing.rounds.back(), Side::kBaseline, timed.seconds, timed.clocks);
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

Result<std::vector<Result<Timing>>> time_interleaved(const std::vector<TimeBlock>& candidates,
                                                     const TimeBlock& baseline, const ReadClocks& clocks,
                                                     const AbbaOptions& options) {
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
