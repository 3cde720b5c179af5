// How threads walk the rows of a scan.
#pragma once

#include "families/scan/shape.h"

namespace solstice::families::scan {

inline constexpr int kUsualSMs = 132;  // where no machine is given

// Chooses loops, vectors, threads, and whether blocks share rows. Error: illegal_knobs where they cannot, and are asked to.
Status lay_out(const ir::Program& program, const Knobs& knobs, const machine::Machine& machine, Shape& shape);

}  // namespace solstice::families::scan
