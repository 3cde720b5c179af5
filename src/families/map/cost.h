// The cost model of `map`: launch + start + the largest of
//   bytes at the rate of DRAM, more where reads leave parts of their sectors unused (transposes);
//   bytes at the rate that a thread's loads in flight draw;
//   instructions at the issue rate;
//   the steps of reductions inside a thread, one after the other.
#pragma once

#include <vector>

#include "families/elementwise/nest.h"
#include "families/family.h"

namespace solstice::families::map {

Result<Cost> cost_of(const Context& context, const std::vector<elementwise::Nest>& nests,
                     const elementwise::Settings& settings);

}  // namespace solstice::families::map
