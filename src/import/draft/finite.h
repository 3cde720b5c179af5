// Values that may be infinite or NaN although the program's inputs are finite.
#pragma once

#include "import/draft/draft.h"

namespace solstice::importer {

// A logarithm, a quotient by what may be 0 and the like in the term or in the equations of the tensors it reads, with
// nothing around it that is finite whatever it gets. True where it is not clear.
bool may_be_infinite(const Draft& draft, const TermRef& term);

}  // namespace solstice::importer
