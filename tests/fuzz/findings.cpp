// Any JSON is the findings of a trial's record, or an error; what is read is written as what is read again.
#include <cstdlib>

#include "mutate_input.h"
#include "record/diagnosis/finding.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace solstice;
  const auto json = parse_json(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!json.ok()) return 0;
  const auto findings = findings_of_record(*json);
  if (!findings.ok()) return 0;
  for (const Finding& finding : *findings) {
    const auto back = from_json<Finding>(to_json(finding));
    if (!back.ok() || to_json(*back).dump() != to_json(finding).dump()) std::abort();
  }
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned seed) {
  return solstice::fuzz::mutate_input(data, size, max_size, seed);
}
