// Extents of inputs follow from no buffer's or parameter's by a difference: what the caller passes is given, and a mask
// of one more row has T+1 rows.
#pragma once

#include "import/draft/draft.h"

namespace solstice::importer {

void free_input_dims(Draft& draft);

}  // namespace solstice::importer
