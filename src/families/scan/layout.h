// How threads walk the rows of a scan.
#pragma once

#include "families/scan/shape.h"

namespace solstice::families::scan {

inline constexpr int kUsualSMs = 132;              // where no machine is given
inline constexpr double kGridEfficiency = 0.9;     // of a grid that shares rows, against blocks that have a row each
inline constexpr double kColumnsEfficiency = 0.5;  // of one that shares columns

// Chooses loops, vectors, threads, and whether blocks share rows. Error: illegal_knobs where they cannot, and are asked to.
Status lay_out(const ir::Program& program, const Knobs& knobs, const machine::Machine& machine, Shape& shape);

// The share of the machine's blocks that have a row, on average, where each row is one block's.
double busy(const Shape& shape, const machine::Machine& machine);

}  // namespace solstice::families::scan
