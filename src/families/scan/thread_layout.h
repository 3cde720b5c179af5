// The thread layout of a scan: loops, vectors, threads of a row, and the blocks that share rows.
#pragma once

#include "families/scan/shape.h"
#include "machine/machine.h"

namespace solstice::families::scan {

// The kernel's shape with its thread layout. Errors: those of shape_of; illegal_knobs where rows cannot be shared as
// asked.
Result<Shape> scheduled_shape_of(const ir::Program& program, const ir::Kernel& kernel, const Knobs& knobs,
                                 const machine::Machine& machine);
// Of a shape without one.
Result<Shape> scheduled(const ir::Program& program, Shape shape, const Knobs& knobs, const machine::Machine& machine);

}  // namespace solstice::families::scan
