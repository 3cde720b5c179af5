// Places in the user's code, for notes and errors.
#pragma once

#include <string>

#include "record/graph.h"

namespace solstice::importer {

// Place in the user's code; file "" where the trace has none.
struct ImportSource {
  std::string module;  // path of the module that called the operator
  std::string file;
  int line = 0;
};

ImportSource source_of(const Graph& graph, const GraphNode& node);

struct ImportNote {
  std::string text;
  ImportSource source;
};

}  // namespace solstice::importer
