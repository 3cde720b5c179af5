// Analysis of a kernel as a scan: its prefixes set apart, its rows laid out over threads.
#pragma once

#include "families/scan/shape.h"

namespace solstice::families::scan {

// Errors: those of codegen::flatten and prefix_of; not_yet for prefixes in both directions, or along different indices;
// illegal_knobs where rows cannot be shared as asked.
Result<Shape> shape_of(const ir::Program& program, const ir::Kernel& kernel, const Knobs& knobs,
                       const machine::Machine& machine);

}  // namespace solstice::families::scan
