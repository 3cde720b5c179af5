// Local memory in the hot code: a spill that is paid for in each round.
#include <fmt/format.h>

#include <algorithm>

#include "diagnose/tool.h"

namespace solstice::diagnose {
namespace {

void find_hot_spills(const Tool& tool, const KernelView& view, std::vector<Finding>& out) {
  for (const StepFacts* step : view.steps()) {
    const SassMix* code = hot_code(*step);
    if (!code || code == &step->sass->mix) continue;
    const double local = mean_access(*code, "local", false).count + mean_access(*code, "local", true).count;
    const double share = local / std::max<double>(1, static_cast<double>(code->instructions));
    if (local < 1 || share < tool.threshold("share")) continue;
    Finding finding = finding_on(
        tool, view, fmt::format("the inner loop of `{}` goes to local memory {:.0f} times a round", step->entry, local),
        view.gain_to_bound(*step, "if nothing waited for these"));
    finding.place.step = step->step;
    finding.place.part = "main loop";
    name_place(*step, code, accesses_of("local"), finding);
    finding.evidence.push_back(evidence("local accesses a round", local, "", "sass"));
    finding.evidence.push_back(
        evidence("at computed addresses", static_cast<double>(code->computed_local), "", "sass"));
    finding.actions.push_back(advice(code->computed_local > 0
                                         ? "unroll the loop over the array that is indexed at run time"
                                         : "fewer live values in the loop: a smaller tile, less unrolling"));
    finding.confidence = confidence_of_guess(*step);
    out.push_back(std::move(finding));
  }
}

}  // namespace

extern const Tool solstice_tools_spill_in_the_loop;
const Tool solstice_tools_spill_in_the_loop{
    .name = "spill in the loop",
    .question = "Does the inner loop go to local memory?",
    .sources = {"sass"},
    .classes = {},
    .thresholds = {{"share", 0.005, "of its instructions",
                    "a finding of low severity, if such an access takes twice the slots of another"}},
    .paper = "KernelPro: register spill",
    .of_kernel = find_hot_spills,
    .shows_as = stalls_of_narrow_accesses(),
    .explains = {"register spill", "local array", "reads again", "partial writes", "L2 thrashing"},
};

}  // namespace solstice::diagnose
