// Any JSON is a graph that imports, or an error.
#include "record/graph.h"

#include "import/import.h"
#include "mutate_input.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace solstice;
  const auto json = parse_json(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!json.ok()) return 0;
  const auto graph = read_graph(*json);
  if (graph.ok()) (void)importer::import_graph(*graph);
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned seed) {
  return solstice::fuzz::mutate_input(data, size, max_size, seed);
}
