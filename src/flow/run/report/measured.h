// Samples as a report shows them.
#pragma once

#include <vector>

#include "record/report.h"
#include "record/timing.h"

namespace solstice::flow {

// Median with its 99.9 % interval by order statistics.
Measured measured_of(const std::vector<double>& seconds);

// One side's samples of the rounds that count: &TimingRound::candidate or &TimingRound::baseline.
Measured measured_of(const Timing& timing, std::vector<double> TimingRound::*side);

}  // namespace solstice::flow
