// A tensor written in pieces that begin with all pieces of an earlier tensor takes them from there: the concatenations
// of a dense block, each one operand longer than the last, become one shape of equation.
#pragma once

#include "import/draft/draft.h"

namespace solstice::importer {

void telescope(Draft& draft);

}  // namespace solstice::importer
