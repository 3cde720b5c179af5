// Threads of a warp that are switched off.
#include <fmt/format.h>

#include <algorithm>

#include "diagnose/tool.h"

namespace solstice::diagnose {
namespace {

void find_divergence(const Tool& tool, const KernelView& view, std::vector<Finding>& out) {
  for (const StepFacts* step : view.steps()) {
    const auto threads = counter(*step, "smsp__thread_inst_executed_per_inst_executed.ratio");
    if (!threads || *threads <= 0 || *threads > 32 * tool.threshold("threads")) continue;
    Finding finding = finding_on(
        tool, view,
        fmt::format("{:.1f} of 32 threads of a warp work in a mean instruction of `{}`", *threads, step->entry),
        view.gain_of(*step, 32 / *threads, "if all threads worked"));
    finding.place.step = step->step;
    finding.evidence.push_back(evidence("threads an instruction", *threads, "", "counters"));
    finding.actions.push_back(advice("branches that a whole warp takes; fewer guarded elements at the edges"));
    out.push_back(std::move(finding));
  }
}

}  // namespace

extern const Tool solstice_tools_divergence;
const Tool solstice_tools_divergence{
    .name = "divergence",
    .question = "Are threads of a warp switched off?",
    .sources = {"counters"},
    .classes = {},
    .thresholds = {{"threads", 0.8, "share of a warp", "a quarter more instructions than needed"}},
    .of_kernel = find_divergence,
    .shows_as = stalls_of_instructions(),
    .counters = {"smsp__thread_inst_executed_per_inst_executed.ratio"},
};

}  // namespace solstice::diagnose
