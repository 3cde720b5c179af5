// Loops whose steps are a linear recurrence of first order, h = a * h + b, element by element.
#pragma once

#include "import/loops/unrolled.h"

namespace solstice::importer {

// One tensor goes from step to step, at the element that is computed, and each step is a linear function of it; nothing
// in a step is a reduction.
bool is_linear_recurrence(const Draft& draft, const Unrolled& loop);

}  // namespace solstice::importer
