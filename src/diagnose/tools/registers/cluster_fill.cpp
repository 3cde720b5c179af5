// Clusters have to fit on the SMs of one GPC: SMs that are left over stay idle.
#include <fmt/format.h>

#include "diagnose/tool.h"

namespace solstice::diagnose {
namespace {

void find_idle_by_cluster(const Tool& tool, const KernelView& view, std::vector<Finding>& out) {
  for (const StepFacts* step : view.steps()) {
    const int64_t cluster = step->cluster[0] * step->cluster[1] * step->cluster[2];
    if (cluster < 2 || !step->occupancy) continue;
    const int64_t blocks = step->grid[0] * step->grid[1] * step->grid[2];
    const int64_t places = step->occupancy->blocks_per_sm * view.machine.sm_count;
    const int64_t used = std::min(blocks, places) / cluster * cluster;
    const double busy = static_cast<double>(used) / static_cast<double>(std::min(blocks, places));
    const double idle = 1 - busy + static_cast<double>(places % cluster) / static_cast<double>(places);
    if (idle < tool.threshold("idle")) continue;
    Finding finding = finding_on(tool, view,
                                 fmt::format("clusters of {} blocks leave {:.0f} % of the places for `{}` empty",
                                             cluster, 100 * idle, step->entry),
                                 view.gain_of(*step, 1 / (1 - idle), "if every SM had a block"));
    finding.place.step = step->step;
    finding.evidence.push_back(evidence("blocks a cluster", static_cast<double>(cluster), "", "plan"));
    finding.evidence.push_back(evidence("places", static_cast<double>(places), "blocks", "plan"));
    if (view.kernel.knobs.contains("cluster"))
      finding.actions.push_back(change_knobs(view, {{"cluster", "1x1"}}, "no cluster"));
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
    .thresholds = {{"idle", 0.05, "share of places", "what the smallest tile of a product loses to one idle SM in 20"}},
    .of_kernel = find_idle_by_cluster,
    .explains = {"SM imbalance"},
};

}  // namespace solstice::diagnose
