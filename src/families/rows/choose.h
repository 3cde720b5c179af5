// Settings of a kernel: the knobs of its clause, the family's choice for the rest, and the limits of both.
#pragma once

#include "families/rows/settings.h"

namespace solstice::families::rows {

// Errors: illegal_knobs, with the sum and the limit.
Result<Settings> settings_of(const ir::Program& program, const Shape& shape, const ir::Knobs& knobs,
                             const machine::Machine* machine);

// Widest vector (elements) that the row's data allows.
int vector_of(const ir::Program& program, const Shape& shape);
// The vector asked for, else the widest. Error: illegal_knobs, where rows are not aligned to it.
Result<int> vector_for(const ir::Program& program, const Shape& shape, const ir::Knobs& knobs);

}  // namespace solstice::families::rows
