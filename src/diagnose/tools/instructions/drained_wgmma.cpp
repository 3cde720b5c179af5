// All products are waited for between two that add to the same accumulators: tensor cores run dry.
#include <fmt/format.h>

#include "diagnose/tool.h"

namespace solstice::diagnose {
namespace {

void find_drained(const Tool& tool, const KernelView& view, std::vector<Finding>& out) {
  for (const StepFacts* step : view.steps()) {
    if (!step->sass || step->sass->drained_wgmma.empty()) continue;
    const SassPlace& place = step->sass->drained_wgmma.front();
    Finding finding = finding_on(
        tool, view,
        fmt::format("`{}` waits for all its wgmma before it goes on with the same accumulators", step->entry),
        view.gain_to_bound(*step, "if the next product were under way while one ends"));
    finding.place.step = step->step;
    finding.place.part = "main loop";
    finding.place.line = place.line;
    name_place(*step, place.address, finding);
    finding.evidence.push_back(
        evidence("such waits", static_cast<double>(step->sass->drained_wgmma.size()), "places", "sass"));
    finding.actions.push_back(advice("`wgmma.wait_group 1` with one group in flight"));
    out.push_back(std::move(finding));
  }
}

}  // namespace

extern const Tool solstice_tools_drained_wgmma;
const Tool solstice_tools_drained_wgmma{
    .name = "drained wgmma",
    .question = "Do tensor cores run dry between products?",
    .sources = {"sass"},
    .classes = {},
    .of_kernel = find_drained,
    .explains = {"tensor cores fed slowly"},
};

}  // namespace solstice::diagnose
