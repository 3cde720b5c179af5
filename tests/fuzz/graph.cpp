// Any JSON is a graph that imports, or an error.
#include "record/graph.h"

#include <cstdint>

#include "ir/import/import.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace solstice;
  const auto json = parse_json(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!json.ok()) return 0;
  const auto graph = read_graph(*json);
  if (graph.ok()) (void)ir::import_graph(*graph);
  return 0;
}
