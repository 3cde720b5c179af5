// Rows that are looked at once: of which only results are wanted, one of them of another (logsumexp, mean and
// variance). What needs a result a thread finds around a center of its own and corrects when the row's is known
// (local.h), so nothing of the row stays, and threads load on while they compute.
#pragma once

#include "families/reduction/shape.h"
#include "families/rows/entry.h"
#include "families/rows/settings.h"

namespace solstice::families::rows {

// A row can be looked at once where nothing is stored along it and one exchange between its threads is enough. Error:
// illegal_knobs, with the reason.
Status check_looked_at_once(const Shape& shape);
inline bool can_be_looked_at_once(const Shape& shape) { return check_looked_at_once(shape).ok(); }

// Vectors of a thread that are on their way together, of each tensor.
int vectors_at_once(const ir::Program& program, const Shape& shape, const Settings& settings);

// With `residency=once`.
Result<Text> emit_once(const ir::Program& program, const ir::Kernel& kernel, Shape& shape, const Settings& settings);

}  // namespace solstice::families::rows
