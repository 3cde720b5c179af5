// Chart of `solstice replay --svg`.
#pragma once

#include <string>

#include "search/replay/comparison.h"

namespace solstice::cli {

// Two panels: cost saved against retention, a point each setting, with the Pareto front; and the best so far by trials,
// a line each policy. No script and no font of its own; colours follow the reader's scheme.
std::string replay_chart(const search::Comparison& comparison);

}  // namespace solstice::cli
