// Schedulers that issue an instruction in nearly every cycle: only fewer instructions help.
#include <fmt/format.h>

#include <algorithm>

#include "diagnose/tool.h"

namespace solstice::diagnose {
namespace {

void find_issue(const Tool& tool, const KernelView& view, std::vector<Finding>& out) {
  for (const StepFacts* step : view.steps()) {
    const auto busy = counter(*step, "smsp__issue_active.avg.pct_of_peak_sustained_active");
    if (!busy || *busy < tool.threshold("busy")) continue;
    Finding finding =
        finding_on(tool, view,
                   fmt::format("schedulers issue in {:.0f} % of the cycles of `{}`: only fewer instructions help",
                               100 * *busy, step->entry),
                   view.gain_to_bound(*step, "with fewer instructions"));
    finding.place.step = step->step;
    name_place(*step, hot_code(*step), instructions(), finding);
    finding.evidence.push_back(evidence("issue slots", 100 * *busy, "%", "counters"));
    finding.actions.push_back(advice("wider accesses, cheaper index arithmetic, packed arithmetic of 16 bits"));
    finding.confidence = Confidence::kHigh;
    out.push_back(std::move(finding));
  }
}

}  // namespace

extern const Tool solstice_tools_issue_bound;
const Tool solstice_tools_issue_bound{
    .name = "issue bound",
    .question = "Do schedulers issue in nearly every cycle?",
    .sources = {"counters"},
    .classes = {},
    .thresholds = {{"busy", 0.85, "share of cycles", "chosen: the rest goes to dependencies that no order avoids"}},
    .of_kernel = find_issue,
    .says = Says::kUnit,
    .counters = {"smsp__issue_active.avg.pct_of_peak_sustained_active"},
};

}  // namespace solstice::diagnose
