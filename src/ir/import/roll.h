// Writes an unrolled loop as one step's equations over the step's index.
#pragma once

#include "ir/import/unrolled.h"

namespace solstice::ir::importer {

// Replaces the loop's items, and what later items read of its steps.
void roll(Draft& draft, const Unrolled& loop);

}  // namespace solstice::ir::importer
