// bench.md: the outcome of each problem, one table a level, and the origin of the rows.
#pragma once

#include <string>

#include "record/bench.h"

namespace solstice::flow {

std::string render_bench(const Bench& bench);

}  // namespace solstice::flow
