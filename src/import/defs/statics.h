// Statics of defs. An extent that only calls speak of is passed as its number, and a number that all calls pass becomes
// the static's default.
#pragma once

#include "import/draft/draft.h"

namespace solstice::importer {

// The calls of one def pass equal extents as one dim: what a constructor was given once.
void join_passed(Draft& draft, int def);

void settle_statics(Draft& draft);

}  // namespace solstice::importer
