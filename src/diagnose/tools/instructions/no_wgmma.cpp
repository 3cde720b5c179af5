// A product on tensor cores without wgmma on a machine that has it: mma.sync reaches about 60 % of its rate.
#include <fmt/format.h>

#include "diagnose/tool.h"

namespace solstice::diagnose {
namespace {

void find_old_mma(const Tool& tool, const KernelView& view, std::vector<Finding>& out) {
  if (!view.machine.wgmma) return;
  for (const StepFacts* step : view.steps()) {
    if (!step->sass || count_of(step->sass->mix, "mma") < 1 || count_of(step->sass->mix, "wgmma") > 0) continue;
    Finding finding =
        finding_on(tool, view, fmt::format("`{}` multiplies by mma.sync on a machine with wgmma", step->entry),
                   view.gain_to_bound(*step, "at the rate of wgmma"));
    finding.place.step = step->step;
    name_place(*step, &step->sass->mix, of_kind("mma"), finding);
    finding.evidence.push_back(evidence("mma instructions", count_of(step->sass->mix, "mma"), "", "sass"));
    finding.actions.push_back(advice("wgmma with operands in shared memory, tiles of at least 64 rows"));
    finding.confidence = Confidence::kMedium;
    out.push_back(std::move(finding));
  }
}

}  // namespace

extern const Tool solstice_tools_no_wgmma;
const Tool solstice_tools_no_wgmma{
    .name = "no wgmma",
    .question = "Does it use the slower tensor-core instruction?",
    .sources = {"sass"},
    .classes = {},
    .paper = "KernelPro: tensor core use",
    .of_kernel = find_old_mma,
};

}  // namespace solstice::diagnose
