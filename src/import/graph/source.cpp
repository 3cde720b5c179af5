#include "import/graph/source.h"

namespace solstice::importer {

ImportSource source_of(const Graph& graph, const GraphNode& node) {
  ImportSource out{node.module, "", 0};
  if (node.src) {
    out.file = graph.files[static_cast<size_t>(node.src->file)];
    out.line = node.src->line;
  }
  return out;
}

}  // namespace solstice::importer
