// Numbers of a run's trials.
#pragma once

#include <string>

#include "record/fields.h"

namespace solstice {

struct TrialCounts {
  int done = 0;            // with a result, also one that failed
  int without_result = 0;  // lost, or under way when the run ended
  int skipped = 0;         // proposals that were not tried: no gain was expected of them
  static auto fields() {
    return std::make_tuple(field("done", &TrialCounts::done, "with a result"),
                           field("without_result", &TrialCounts::without_result, "lost, or under way at the end"),
                           field("skipped", &TrialCounts::skipped, "proposals not tried"));
  }
};

// "9 trials, 2 more without a result, 3 not tried".
std::string text_of(const TrialCounts& counts);

}  // namespace solstice
