// SMs that are done long before the last one.
#include <fmt/format.h>

#include <algorithm>

#include "diagnose/tool.h"

namespace solstice::diagnose {
namespace {

void find_imbalance(const Tool& tool, const KernelView& view, std::vector<Finding>& out) {
  for (const StepFacts* step : view.steps()) {
    const auto mean = counter(*step, "sm__cycles_active.avg"), most = counter(*step, "sm__cycles_active.max");
    if (!mean || !most || *mean <= 0) continue;
    const double idle = 1 - *mean / *most;
    if (idle < tool.threshold("idle")) continue;
    Finding finding = finding_on(
        tool, view,
        fmt::format("the mean SM works {:.0f} % of the time of the busiest one in `{}`", 100 * (1 - idle), step->entry),
        view.gain_of(*step, 1 / (1 - idle), "if all SMs had the same work"));
    finding.place.step = step->step;
    finding.evidence.push_back(evidence("cycles of the mean SM", *mean, "", "counters"));
    finding.evidence.push_back(evidence("cycles of the busiest SM", *most, "", "counters"));
    finding.actions.push_back(advice("smaller pieces of work, or a scheduler that hands them out"));
    finding.confidence = Confidence::kHigh;
    out.push_back(std::move(finding));
  }
}

}  // namespace

extern const Tool solstice_tools_sm_imbalance;
const Tool solstice_tools_sm_imbalance{
    .name = "SM imbalance",
    .question = "Do some SMs work longer than others?",
    .sources = {"counters"},
    .classes = {},
    .thresholds = {{"idle", 0.15, "share of the busiest SM", "chosen: more than start and end of blocks explain"}},
    .of_kernel = find_imbalance,
    .says = Says::kUnit,
    .counters = {"sm__cycles_active.avg", "sm__cycles_active.max"},
};

}  // namespace solstice::diagnose
