// Indices of a row-wise kernel, from the numbers of row and vector, and accesses along a row.
#pragma once

#include "codegen/emitter.h"
#include "families/reduction/shape.h"

namespace solstice::families::reduction {

// True if the access walks neighbouring elements of memory along the row's innermost loops, `depth` of them.
bool is_run(const Shape& shape, const codegen::Access& access, size_t depth = 1);

// True if the access moves one aligned vector of a row.
bool is_stream(const Shape& shape, const codegen::Access& access, int vector);

// Type of a vector's number in its row, which may exceed the last one by up to a step of all threads.
codegen::CType column_type(const Shape& shape, int vector);

// Binds the row's indices from `row` and the columns' from the vector's number `c` (depth: the scope of each).
void bind_rows(codegen::Emitter& emitter, const Shape& shape);
void bind_columns(codegen::Emitter& emitter, const Shape& shape, int vector, int depth);

}  // namespace solstice::families::reduction
