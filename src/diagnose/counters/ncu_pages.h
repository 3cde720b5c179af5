// Pages of an ncu report as ncu prints them with --csv. A value that cannot be read costs itself, and a note names it.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "record/diagnosis/facts.h"

namespace solstice::diagnose {

using Extents = std::array<int64_t, 3>;

// One launch of the raw page, and what tells it from others.
struct RawLaunch {
  std::string kernel;  // as ncu prints its name
  std::optional<Extents> grid, block;
  std::map<std::string, double> metrics;   // those that were wanted, base units
  std::map<std::string, int64_t> samples;  // of the sampler, by stall reason
  int64_t passes = 0;                      // 0: not known
  std::vector<std::string> notes;
};

struct RawPage {
  std::vector<RawLaunch> launches;  // in the order in which they ran
  std::vector<std::string> notes;   // on the page as a whole
};

// `--page raw`: names, then units, then a row for each profiled launch.
RawPage read_raw_page(std::string_view csv, const std::vector<std::string>& wanted);

// The machine code of one launch, by the sampler.
struct SourceListing {
  std::string kernel;                      // "" where the page does not say
  std::vector<HotSpot> hot;                // the most sampled, descending; without lines, which this page does not have
  std::map<std::string, int64_t> samples;  // of the whole kernel, by stall reason
  std::vector<std::string> notes;
};

struct SourcePage {
  std::vector<SourceListing> launches;
  std::vector<std::string> notes;  // on the page as a whole
};

// `--page source`, of machine code: for each launch a row for each instruction, at absolute addresses.
SourcePage read_source_page(std::string_view csv, size_t most_hot);

// Passes over each launch, as ncu's log has them ('- 43 passes'), in the order of the launches.
std::vector<int64_t> passes_of_log(std::string_view log);

}  // namespace solstice::diagnose
