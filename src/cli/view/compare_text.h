// Output of `solstice compare`.
#pragma once

#include <string>

#include "flow/history/run_comparison.h"

namespace solstice::cli {

// Cautions first, then the runs side by side, or their groups with the runs a line each, then what the two best
// programs differ in.
std::string comparison_text(const flow::RunComparison& comparison);

}  // namespace solstice::cli
