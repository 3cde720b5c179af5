#include "record/trial_counts.h"

#include <fmt/format.h>

#include "base/counted.h"

namespace solstice {

std::string text_of(const TrialCounts& counts) {
  std::string out = counted(counts.done, "trial");
  if (counts.without_result > 0) out += fmt::format(", {} more without a result", counts.without_result);
  if (counts.skipped > 0) out += fmt::format(", {} not tried", counts.skipped);
  return out;
}

}  // namespace solstice
