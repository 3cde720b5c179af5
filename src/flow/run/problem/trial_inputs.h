// Inputs that trials are verified and timed with, and the time of the original on them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "flow/run/problem/cases.h"

namespace solstice::flow {

struct OriginalTime {
  Seconds time{0};      // 0: not measured
  Seconds dispatch{0};  // host time of a call
};

// Empty on the model device.
struct TrialInputs {
  std::optional<PreparedCase> first;
  std::vector<run::JudgeCase> cases;  // the first, and a second one for timing where memory has room
  OriginalTime original;
  std::vector<std::string> warnings;  // of the report until they were ready
};

}  // namespace solstice::flow
