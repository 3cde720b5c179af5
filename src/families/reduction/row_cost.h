// Work and shared bytes of rows, for the cost models of families that reduce along rows.
#pragma once

#include "base/units.h"
#include "families/reduction/shape.h"

namespace solstice::families::reduction {

// Bytes of a row that are the same in every row: weights.
Bytes shared_by_rows(const ir::Program& program, const Shape& shape);

// Instructions of one row, whose elements' nodes are computed for each of them.
double instructions_of_row(const Shape& shape);

}  // namespace solstice::families::reduction
