// How threads walk the rows of a scan.
#pragma once

#include "families/scan/shape.h"
#include "families/usual_machine.h"

namespace solstice::families::scan {

// Chooses loops, vectors, threads, and whether blocks share rows. Error: illegal_knobs where they cannot, and are asked
// to.
Status lay_out(const ir::Program& program, const Knobs& knobs, const machine::Machine& machine, Shape& shape);

}  // namespace solstice::families::scan
