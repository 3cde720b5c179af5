// Accesses of a warp to one bank of shared memory are served one after the other: each such wavefront more keeps its
// SM's shared memory for a cycle.
#include <fmt/format.h>

#include <algorithm>

#include "diagnose/tool.h"

namespace solstice::diagnose {
namespace {

void find_conflicts(const Tool& tool, const KernelView& view, std::vector<Finding>& out) {
  for (const StepFacts* step : view.steps()) {
    const auto conflicts = counter(*step, "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum");
    const auto wavefronts = counter(*step, "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum");
    const auto mean_cycles = counter(*step, "sm__cycles_active.avg");
    if (!conflicts || !wavefronts || !mean_cycles || *wavefronts <= 0 || *mean_cycles <= 0) continue;
    const double share = *conflicts / *wavefronts;
    const double of_cycles = std::min(1.0, *conflicts / (*mean_cycles * view.machine.sm_count));
    if (share < tool.threshold("share")) continue;
    Finding finding = finding_on(
        tool, view,
        fmt::format("{:.0f} % of the shared memory wavefronts of `{}` are bank conflicts", 100 * share, step->entry),
        view.gain_of(*step, gain_without(of_cycles),
                     fmt::format("without their cycles, {:.1f} % of the SMs'", 100 * of_cycles)));
    finding.place.step = step->step;
    name_place(*step, hot_code(*step), accesses_of("shared"), finding);
    finding.evidence.push_back(evidence("bank conflicts", *conflicts, "wavefronts", "counters"));
    finding.evidence.push_back(evidence("wavefronts", *wavefronts, "", "counters"));
    finding.evidence.push_back(evidence("cycles of the mean SM", *mean_cycles, "", "counters"));
    finding.actions.push_back(advice("pad or swizzle the tile in shared memory"));
    finding.confidence = Confidence::kHigh;
    out.push_back(std::move(finding));
  }
}

}  // namespace

extern const Tool solstice_tools_bank_conflicts;
const Tool solstice_tools_bank_conflicts{
    .name = "bank conflicts",
    .question = "Do threads of a warp wait for one bank of shared memory?",
    .sources = {"counters"},
    .classes = {},
    .thresholds = {{"share", 0.1, "share of wavefronts", "a tenth of its shared memory time"}},
    .of_kernel = find_conflicts,
    .shows_as = {"mio_throttle", "short_scoreboard", "lg_throttle", "long_scoreboard", "drain", "dispatch_stall"},
    .counters = {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum", "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",
                 "sm__cycles_active.avg"},
};

}  // namespace solstice::diagnose
