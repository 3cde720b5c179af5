// Writes an unrolled loop as one step's equations over the step's index.
#pragma once

#include "import/loops/unrolled.h"

namespace solstice::importer {

// Replaces the loop's items, and what later items read of its steps.
void roll(Draft& draft, const Unrolled& loop);

}  // namespace solstice::importer
