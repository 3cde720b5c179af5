// How threads walk the rows of a scan.
#pragma once

#include "families/scan/shape.h"

namespace solstice::families::scan {

inline constexpr int kUsualSMs = 132;  // where no machine is given

// Chooses loops, vectors, threads, and whether blocks share rows. Error: illegal_knobs where they cannot, and are asked to.
Status lay_out(const ir::Program& program, const Knobs& knobs, const machine::Machine& machine, Shape& shape);

// The share of the copy rate that a grid reaches whose every round is full.
double grid_efficiency(const ir::Program& program, const Shape& shape);

// The share of the machine's blocks that have a row, on average, where each row is one block's.
double busy(const Shape& shape, const machine::Machine& machine);

}  // namespace solstice::families::scan
