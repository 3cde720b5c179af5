// Structure of a kernel, as memory across problems knows it: without names, and without exact extents.
#pragma once

#include <vector>

#include "ir/program.h"
#include "record/fact.h"

namespace solstice::propose {

// Of equations that run together in `program`, whose tensors know where they are kept (propose::apply, or a bound
// candidate).
//
// kind: the reductions that are in it, or "map", and the formats that it reads and writes memory in. Form: the
// equations, tensors and indices numbered as they come, real literals left out; of a tensor in memory its format,
// whether it is a weight, and which index is contiguous. Extents: of each index its power of two, rounded; "'" where it
// is no multiple of 8 and vectors do not fit.
Structure structure_of(const ir::Program& program, const std::vector<int>& equations);

}  // namespace solstice::propose
