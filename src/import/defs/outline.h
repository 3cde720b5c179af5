// Prints repeated blocks once: runs of items of modules that differ in names, paths and extents alone become calls of
// one `def`. Smaller blocks first, so that defs call defs.
#pragma once

#include "import/draft/draft.h"
#include "record/graph.h"

namespace solstice::importer {

void outline(Draft& draft, const Graph& graph);

}  // namespace solstice::importer
