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
  for (const RawLaunch& launch : read_raw_page(text, wanted).launches) {
    for (const auto& [metric, value] : launch.metrics) {
      if (!std::isfinite(value)) std::abort();
    }
  }
  for (const SourceListing& listing : read_source_page(text, 32).launches) {
    for (const solstice::HotSpot& spot : listing.hot) {
      if (spot.samples.empty()) std::abort();
    }
  }
  (void)passes_of_log(text);
  (void)refused_metrics(text, wanted);
  (void)explain_failure(text, solstice::run::ProfiledRun(), "k");
  return 0;
}
