// The part of bench.md that tells how a shared budget was spent.
#pragma once

#include <string>

#include "record/bench.h"

namespace solstice::flow {

std::string turns_section(const Bench& bench);  // "" where each problem had its own budget

}  // namespace solstice::flow
