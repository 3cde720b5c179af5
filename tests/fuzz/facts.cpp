// Any JSON is facts that are diagnosed, or an error; findings come back from a journey as they were.
#include <cstdlib>

#include "diagnose/diagnose.h"
#include "mutate_input.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace solstice;
  static const machine::Machine machine = *machine::load_machine(SOLSTICE_SOURCE_DIR "/machines/h200.toml");
  const auto json = parse_json(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!json.ok()) return 0;
  const auto facts = read_facts(*json);
  if (!facts.ok()) return 0;
  for (const Finding& finding : diagnose::diagnose(*facts, machine).findings) {
    const auto back = from_json<Finding>(to_json(finding));
    if (!back.ok() || !validate(*back).ok()) std::abort();
  }
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned seed) {
  return solstice::fuzz::mutate_input(data, size, max_size, seed);
}
