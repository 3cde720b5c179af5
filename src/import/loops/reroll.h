// Loops that Python unrolled become equations over a step again. A stretch of items that repeats, with the same reads
// at the same distance and numbers that grow evenly, is written once: `h[t,b,u] = .. h[t-1,b,k else h0[b,k]] ..`.
#pragma once

#include "import/draft/draft.h"

namespace solstice::importer {

void reroll(Draft& draft);

}  // namespace solstice::importer
