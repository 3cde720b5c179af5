// Pages of an ncu report as ncu prints them with --csv. A value that cannot be read costs itself, and a note names it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "record/diagnosis/facts.h"

namespace solstice::diagnose {

struct RawPage {
  std::map<std::string, double> metrics;   // those that were wanted, base units
  std::map<std::string, int64_t> samples;  // of the sampler, by stall reason
  std::vector<std::string> notes;
};

// `--page raw`: names, then units, then a row for each profiled launch, of which the first counts.
RawPage read_raw_page(std::string_view csv, const std::vector<std::string>& wanted);

struct SourcePage {
  std::vector<HotSpot> hot;                // the most sampled, descending; without lines, which this page does not have
  std::map<std::string, int64_t> samples;  // of the whole kernel, by stall reason
  std::vector<std::string> notes;
};

// `--page source`, of machine code: a row for each instruction, at absolute addresses.
SourcePage read_source_page(std::string_view csv, size_t most_hot);

}  // namespace solstice::diagnose
