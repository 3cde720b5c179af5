// Integers that PyTorch would wrap around; the language does not.
#pragma once

#include <vector>

#include "import/call/call.h"
#include "import/graph/source.h"

namespace solstice::importer {

// One note a dtype, at the first operator whose result may leave it.
void note_wraps(const Graph& graph, const Values& values, std::vector<ImportNote>& notes);

}  // namespace solstice::importer
