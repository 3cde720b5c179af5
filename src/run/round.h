// A round of a timing is filled block by block.
#pragma once

#include <span>

#include "record/timing.h"

namespace solstice::run {

enum class Side { kCandidate, kBaseline };

// A round has two blocks of each side. `clocks` were read after this one; a thermal or hardware slowdown in them
// discards the round.
void add_block(TimingRound& round, Side side, std::span<const double> seconds, const ClockReading& clocks);

}  // namespace solstice::run
