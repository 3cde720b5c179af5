// Loops that Python unrolled become equations over a step again. A stretch of items that repeats, with the same reads
// at the same distance and numbers that grow evenly, is written once: `h[t,b,u] = .. h[t-1,b,k else h0[b,k]] ..`.
#pragma once

#include "import/draft/draft.h"

namespace solstice::importer {

void reroll(Draft& draft);

// The same for linear recurrences of first order alone, which a scan runs, and for what is computed of all their steps.
// Others stay as they are: what one kernel can compute step by step, another may not compute as a loop. True: there was
// one.
bool reroll_recurrences(Draft& draft);

}  // namespace solstice::importer
