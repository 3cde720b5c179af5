// Nests of a map kernel.
#pragma once

#include <vector>

#include "base/result.h"
#include "families/elementwise/nest.h"

namespace solstice::families::map {

// One nest for the equations over boxes of equal extents, with its loops and vectors chosen.
// Errors: those of codegen::flatten, elementwise::check_serial and elementwise::stacked.
Result<std::vector<elementwise::Nest>> make_nests(const ir::Program& program, const ir::Kernel& kernel,
                                                  const elementwise::Settings& settings);

}  // namespace solstice::families::map
