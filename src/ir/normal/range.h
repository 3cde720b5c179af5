// Ranges of integer terms, from the extents of their variables.
#pragma once

#include "ir/bind/linear.h"
#include "ir/normal/pool.h"

namespace solstice::ir::normal {

ValueRange range_of(const Pool& pool, TermId t);

}  // namespace solstice::ir::normal
