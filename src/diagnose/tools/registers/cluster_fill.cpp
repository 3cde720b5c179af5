// Clusters have to fit on the SMs of one GPC: SMs that are left over stay idle. How many a GPU holds is in the machine
// file.
#include <fmt/format.h>

#include <algorithm>

#include "diagnose/tool.h"

namespace solstice::diagnose {
namespace {

void find_idle_by_cluster(const Tool& tool, const KernelView& view, std::vector<Finding>& out) {
  for (const StepFacts* step : view.steps()) {
    const int64_t cluster = step->cluster[0] * step->cluster[1] * step->cluster[2];
    if (cluster < 2 || !step->occupancy) continue;
    const int64_t blocks = step->grid[0] * step->grid[1] * step->grid[2];
    const int64_t places = step->occupancy->blocks_per_sm * view.machine.sm_count;
    const int64_t filled = cluster * view.machine.clusters_at_once(cluster, step->occupancy->blocks_per_sm);
    const double gain = static_cast<double>(std::min(blocks, places)) / static_cast<double>(filled);
    if (gain < tool.threshold("gain")) continue;
    Finding finding = finding_on(tool, view,
                                 fmt::format("clusters of {} blocks leave {} of {} places for blocks of `{}` empty",
                                             cluster, places - filled, places, step->entry),
                                 view.gain_of(*step, gain, "if every place had a block"));
    finding.place.step = step->step;
    finding.evidence.push_back(evidence("blocks a cluster", static_cast<double>(cluster), "", "plan"));
    finding.evidence.push_back(evidence("places", static_cast<double>(places), "blocks", "plan"));
    finding.evidence.push_back(evidence("clusters at once", static_cast<double>(filled / cluster), "", "plan"));
    if (auto none = view.setting("cluster", {"1x1", "1"}, "no cluster")) finding.actions.push_back(std::move(*none));
    finding.actions.push_back(advice("smaller clusters"));
    out.push_back(std::move(finding));
  }
}

}  // namespace

extern const Tool solstice_tools_cluster_fill;
const Tool solstice_tools_cluster_fill{
    .name = "cluster fill",
    .question = "Do clusters leave SMs empty?",
    .sources = {"ptxas", "plan"},
    .classes = {},
    .thresholds = {{"gain", 1.05, "x", "a finding of medium severity"}},
    .of_kernel = find_idle_by_cluster,
    .explains = {"SM imbalance"},
};

}  // namespace solstice::diagnose
