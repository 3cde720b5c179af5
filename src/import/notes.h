// What a user should know of an import beside its equations.
#pragma once

#include <vector>

#include "import/call.h"
#include "import/import.h"

namespace solstice::importer {

ImportSource source_of(const Graph& graph, const GraphNode& node);

// State that nothing reads, arguments that are no tensors, contents that are unknown, draws, integers that may wrap
// around, what the trace left out, made constant or could not compare.
void add_notes(const Graph& graph, const Values& values, std::vector<ImportNote>& notes);

}  // namespace solstice::importer
