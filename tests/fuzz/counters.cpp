// Any bytes are ncu's pages: values that are finite numbers, and notes on the rest.
#include <cmath>
#include <cstdint>
#include <cstdlib>

#include "diagnose/counters/counter_table.h"
#include "diagnose/counters/ncu_failure.h"
#include "diagnose/counters/ncu_pages.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace solstice::diagnose;
  static const std::vector<std::string> wanted = counter_metrics();
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const auto& [metric, value] : read_raw_page(text, wanted).metrics) {
    if (!std::isfinite(value)) std::abort();
  }
  for (const solstice::HotSpot& spot : read_source_page(text, 32).hot) {
    if (spot.samples.empty()) std::abort();
  }
  (void)refused_metrics(text, wanted);
  (void)explain_failure(text, solstice::run::ProfiledRun(), "k");
  return 0;
}
