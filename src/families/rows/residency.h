// Bytes and places of the values that stay on chip between sweeps.
#pragma once

#include <cstdint>
#include <vector>

#include "families/reduction/phases.h"
#include "families/reduction/shape.h"
#include "ir/program.h"

namespace solstice::families::rows {

using namespace reduction;

// Bytes of a resident value: those of its storage type where it is loaded, else the most that its computing type takes.
int element_bytes(const ir::Program& program, const ir::ExprRef& value, bool loaded);

// Places of resident values in shared memory, for one element of the row: offsets by position (the `keeps` of all
// sweeps, in order) and the sum of their bytes. A value reuses the place of one that is last used in the sweep that
// computes it: a thread reads its old element before it writes the new one. Both must have the same stride, or threads
// would overwrite each other's elements.
struct SharedPlaces {
  std::vector<int64_t> offsets;
  int64_t bytes = 0;
};
SharedPlaces shared_places(const ir::Program& program, const Shape& shape, const Phases& phases, int vector);

}  // namespace solstice::families::rows
