// Samples as a report shows them.
#pragma once

#include <vector>

#include "record/report.h"

namespace solstice::flow {

// Median with its 99.9 % interval by order statistics.
Measured measured_of(const std::vector<double>& seconds);

}  // namespace solstice::flow
