// Barriers of a block in the inner loop: all warps wait for the slowest, each time round.
#include <fmt/format.h>

#include <algorithm>

#include "diagnose/tool.h"

namespace solstice::diagnose {
namespace {

void find_loop_barriers(const Tool& tool, const KernelView& view, std::vector<Finding>& out) {
  for (const StepFacts* step : view.steps()) {
    if (!step->sass || step->sass->loops.empty()) continue;
    const SassMix* code = hot_code(*step);
    const auto found = code->named.find("BAR.SYNC");
    const double barriers = found == code->named.end() ? 0 : static_cast<double>(found->second);
    const double all = static_cast<double>(code->instructions);
    if (code == &step->sass->mix || barriers < 1 || barriers / all < tool.threshold("share")) continue;
    Finding finding = finding_on(
        tool, view,
        fmt::format("the inner loop of `{}` has {:.0f} barriers in {:.0f} instructions", step->entry, barriers, all),
        view.gain_to_bound(*step, "if no warp waited for another in the loop"));
    finding.place.step = step->step;
    finding.place.part = "main loop";
    name_place(*step, code, of_opcode("BAR.SYNC"), finding);
    finding.evidence.push_back(evidence("barriers a round", barriers, "", "sass"));
    finding.actions.push_back(
        advice("more work a round; exchange inside a warp by shuffles; a ring of stages with mbarriers"));
    finding.confidence = confidence_of_guess(*step);
    out.push_back(std::move(finding));
  }
}

}  // namespace

extern const Tool solstice_tools_loop_barriers;
const Tool solstice_tools_loop_barriers{
    .name = "loop barriers",
    .question = "Do warps meet at barriers in the inner loop?",
    .sources = {"sass"},
    .classes = {},
    .thresholds = {{"share", 0.01, "of its instructions",
                    "chosen, not derived: a barrier takes tens of cycles, of which one in a hundred instructions hides "
                    "most"}},
    .of_kernel = find_loop_barriers,
    .shows_as = {"barrier"},
    .explains = {"barrier stall"},
};

}  // namespace solstice::diagnose
