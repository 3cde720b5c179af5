// The text of a finished draft: dims, declarations, then equations in the order of the graph, each with the operator
// and source line it comes from.
#pragma once

#include <string>

#include "import/draft/draft.h"
#include "record/graph.h"

namespace solstice::importer {

// Names everything in `draft` on the way.
std::string emit(Draft& draft, const Graph& graph, const std::string& program_name);

}  // namespace solstice::importer
