// The cost model of `rows`: launch + start + the largest of
// - bytes at the rate of DRAM over the share of it that the layout reaches; data that a sweep reads again
// (residency=l2)
//   counts once more;
// - bytes at the rate that the loads in flight on an SM draw;
// - instructions at the issue rate, of the SMs that have blocks, and where the row is held the waits of its blocks;
// - for a team, the time of its rows one after the other (MultiBlock::time).
//
// A row in parts is folded by a second kernel.
#pragma once

#include "families/family.h"
#include "families/rows/multi_block/plan.h"
#include "families/rows/settings.h"

namespace solstice::families::rows {

Result<Cost> cost_of(const Context& context, const Shape& shape, const Settings& settings);
Result<Cost> cost_of_multi_block(const Context& context, const Shape& shape, const MultiBlock& team);

}  // namespace solstice::families::rows
