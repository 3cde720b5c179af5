// A result that is written slice by slice (`out[:, t] = h`) is a chain of tensors, each a copy of the one before but
// for one slice. Where the slices are all of it, it is written in pieces instead, as a `stack` of them would be.
#pragma once

#include "import/draft/draft.h"

namespace solstice::importer {

// True: something has changed.
bool write_slices_as_pieces(Draft& draft);

}  // namespace solstice::importer
