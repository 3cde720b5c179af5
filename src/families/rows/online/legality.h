// Conditions of a single pass over a row, and its loads in flight.
#pragma once

#include "base/result.h"
#include "families/reduction/shape.h"
#include "families/rows/settings.h"

namespace solstice::families::rows {

// A single pass needs a row along which nothing is stored, and results that one exchange between threads completes.
// Error: illegal_knobs, with the reason.
Status check_online(const Shape& shape);
inline bool can_be_online(const Shape& shape) { return check_online(shape).ok(); }

// Vectors of each tensor that a thread has in flight together.
int vectors_in_flight(const ir::Program& program, const Shape& shape, const Settings& settings);

}  // namespace solstice::families::rows
