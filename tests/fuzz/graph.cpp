// Any JSON is a graph that imports, or an error.
#include "record/graph.h"

#include <algorithm>
#include <cstdint>

#include "import/import.h"
#include "mutate_json.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace solstice;
  const auto json = parse_json(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!json.ok()) return 0;
  const auto graph = read_graph(*json);
  if (graph.ok()) (void)importer::import_graph(*graph);
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned seed) {
  using namespace solstice;
  static std::string last_text;
  static Json last;
  std::mt19937 random(seed);
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (text != last_text) {  // mostly the next change of what was changed before
    const auto json = parse_json(text);
    if (!json.ok()) return LLVMFuzzerMutate(data, size, max_size);
    last_text = text;
    last = *json;
  }
  if (random() % 8 == 0) return LLVMFuzzerMutate(data, size, max_size);
  Json next = fuzz::mutated(last, random);
  std::string next_text = next.dump();
  if (next_text.size() > max_size) return LLVMFuzzerMutate(data, size, max_size);
  last = std::move(next);
  last_text = std::move(next_text);
  std::copy(last_text.begin(), last_text.end(), data);
  return last_text.size();
}
