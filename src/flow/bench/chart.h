// bench.svg: one bar a problem, sorted by the delivered speedup over the original, on a logarithmic axis.
#pragma once

#include <string>

#include "record/bench.h"

namespace solstice::flow {

std::string render_chart(const Bench& bench);  // "" where nothing was measured

}  // namespace solstice::flow
