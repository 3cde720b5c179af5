// Names of what a warp waits for. ncu has three spellings of each: of the hardware's counter, of the sampler, and of a
// column of its source page; facts have the first.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace solstice::diagnose {

struct StallReason {
  std::string_view name;     // "long_scoreboard": in CounterFacts::stalls and HotSpot::samples
  std::string_view sampler;  // in smsp__pcsamp_warps_issue_stalled_*
  std::string_view column;   // in stall_*, of the source page
};
const std::vector<StallReason>& stall_reasons();  // of compute capability 9.0

// The reason that a column of the source page or a total of the sampler counts; "" where it is no such column. A reason
// that the list does not have keeps its own name.
std::string sampled_reason(std::string_view column);

// The metric of the hardware's counter: the share of the resident warps that waited for this.
std::string stall_metric(std::string_view reason);

// A section of ncu that samples warps by address and nothing else, as the text of a .section file.
constexpr const char* kSamplingSection = "SolsticeWarpStates";
std::string sampling_section();

}  // namespace solstice::diagnose
