// Warps that wait for each other. In products on tensor cores most of them do by design.
#include <fmt/format.h>

#include <algorithm>

#include "diagnose/tool.h"

namespace solstice::diagnose {
namespace {

// On tensor cores, by its machine code.
bool multiplies(const StepFacts& step) {
  return step.sass && count_of(step.sass->mix, "wgmma") + count_of(step.sass->mix, "mma") > 0;
}

void find_barriers(const Tool& tool, const KernelView& view, std::vector<Finding>& out) {
  for (const StepFacts* step : view.steps()) {
    const auto waiting = stall(*step, "barrier");
    if (!waiting || *waiting < tool.threshold("share") || multiplies(*step)) continue;
    const double share = *waiting;
    Finding finding = finding_on(
        tool, view, fmt::format("warps of `{}` wait at a barrier in {:.0f} % of the samples", step->entry, 100 * share),
        view.gain_of(*step, gain_without(share), fmt::format("without this stall: 1 / (1 - {:.2f})", share)));
    finding.place.step = step->step;
    name_stalled_place(*step, "barrier", finding);
    finding.evidence.push_back(evidence("samples in barrier", 100 * share, "%", "counters"));
    finding.actions.push_back(advice("smaller blocks, exchange inside warps, or mbarriers with fewer members"));
    out.push_back(std::move(finding));
  }
}

}  // namespace

extern const Tool solstice_tools_barrier_stall;
const Tool solstice_tools_barrier_stall{
    .name = "barrier stall",
    .question = "Do warps wait for each other?",
    .sources = {"counters"},
    .classes = {},
    .thresholds = {{"share", 0.3, "share of samples", "KernelPro, table 2"}},
    .paper = "KernelPro: barrier stall",
    .of_kernel = find_barriers,
    .says = Says::kSymptom,
    .warp_states = true,
};

}  // namespace solstice::diagnose
