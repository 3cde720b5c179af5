// Notes of an import: facts that a user should know and that the equations do not show.
#pragma once

#include <vector>

#include "import/call/call.h"
#include "import/graph/source.h"

namespace solstice::importer {

// State that nothing reads, arguments that are no tensors, contents that are unknown, draws, integers that may wrap
// around, what the trace left out, made constant or could not compare.
void add_notes(const Graph& graph, const Values& values, std::vector<ImportNote>& notes);

}  // namespace solstice::importer
