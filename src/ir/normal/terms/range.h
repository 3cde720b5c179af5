// Ranges of integer terms, from the extents of their variables.
#pragma once

#include "ir/integers/linear.h"
#include "ir/normal/terms/pool.h"

namespace solstice::ir::normal {

ValueRange range_of(const Pool& pool, TermId t);

}  // namespace solstice::ir::normal
