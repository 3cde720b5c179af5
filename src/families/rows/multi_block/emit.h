// Multi-block kernels: a team of blocks reduces each long row.
#pragma once

#include "families/rows/multi_block/plan.h"

namespace solstice::families::rows {

Result<Emission> emit_multi_block(const ir::Program& program, const ir::Kernel& kernel, Shape& shape,
                                  const MultiBlock& team);

}  // namespace solstice::families::rows
