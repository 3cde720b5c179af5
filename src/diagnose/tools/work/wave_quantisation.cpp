// The last wave of blocks fills a part of the GPU, and lasts as long as a full one. Persistent kernels, whose grid is
// what fits, have none.
#include <fmt/format.h>

#include <cmath>

#include "diagnose/tool.h"

namespace solstice::diagnose {
namespace {

void find_tail(const Tool& tool, const KernelView& view, std::vector<Finding>& out) {
  for (const StepFacts* step : view.steps()) {
    if (!step->occupancy || step->occupancy->waves <= 1) continue;
    const double waves = step->occupancy->waves, rounds = std::ceil(waves - 1e-9);
    const double idle = 1 - waves / rounds;
    if (idle < tool.threshold("idle")) continue;
    Finding finding =
        finding_on(tool, view,
                   fmt::format("the blocks of `{}` run in {:.2f} waves: {:.0f} % of the {:.0f} that they take is idle",
                               step->entry, waves, 100 * idle, rounds),
                   view.gain_of(*step, 1 / (1 - idle), "if the last wave were full"));
    finding.place.step = step->step;
    finding.evidence.push_back(evidence("waves", waves, "", "plan"));
    finding.actions.push_back(advice("another tile, or a persistent grid"));
    // A part of the SMs keeps memory busy as well.
    if (view.limited == Class::kDram || view.limited == Class::kL2) finding.confidence = Confidence::kLow;
    out.push_back(std::move(finding));
  }
}

}  // namespace

extern const Tool solstice_tools_wave_quantisation;
const Tool solstice_tools_wave_quantisation{
    .name = "wave quantisation",
    .question = "Is the last wave of blocks half empty?",
    .sources = {"ptxas", "plan"},
    .classes = {},
    .thresholds = {{"idle", 0.1, "share of the waves",
                    "chosen: twice a finding of medium severity, since blocks do not end all at once"}},
    .of_kernel = find_tail,
    .explains = {"SM imbalance"},
};

}  // namespace solstice::diagnose
