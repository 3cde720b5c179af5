// Time of moving a scan's data in a layout.
#pragma once

#include "families/scan/shape.h"
#include "machine/machine.h"

namespace solstice::families::scan {

// Tiles that blocks of their own walk: the loads of one wait for the stores of the one before unless they are on their
// way already, while other blocks of the SM go on. Of a grid: rounds, which take some time however little
// they move.
Seconds moving_time(const ir::Program& program, const Shape& shape, const machine::Machine& machine);

}  // namespace solstice::families::scan
