// ABBA: candidate, baseline, baseline, candidate, round after round within one allocation of the GPU, so that slow
// drift of clocks and temperature falls on both sides alike; with several candidates A B C, baseline, baseline, C B A.
//
// Stops when the 95 % interval of the fastest one's speedup is narrow enough, or when the budget is spent; never before
// `least_rounds`. Rounds with thermal or hardware slowdown are kept but do not count.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "record/timing.h"

namespace solstice::run {

// Times one block: seconds of each of `repetitions` executions. Its error ends the measurement.
using TimeBlock = std::function<Result<std::vector<double>>(int repetitions)>;
using ReadClocks = std::function<ClockReading()>;

struct AbbaOptions {
  std::string method = "events";
  int repetitions = 10;  // a block
  int least_rounds = 3;
  int most_rounds = 30;
  Seconds budget{10};
  double narrow_enough = 0.005;  // half of the 95 % interval over the speedup
};

// One entry a candidate; one that fails (candidate_failed: also a time that is zero, negative or not finite) drops out
// with its error and the others go on. Errors: any other of the callables, and a failing baseline.
Result<std::vector<Result<Timing>>> time_interleaved(const std::vector<TimeBlock>& candidates,
                                                     const TimeBlock& baseline, const ReadClocks& clocks,
                                                     const AbbaOptions& options = {});

}  // namespace solstice::run
