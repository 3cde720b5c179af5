// Fewer blocks than the GPU can hold at once leave SMs idle, and those that work have fewer warps than they could.
#include <fmt/format.h>

#include <algorithm>

#include "diagnose/product_shape.h"
#include "diagnose/tool.h"

namespace solstice::diagnose {
namespace {

void add_settings(const KernelView& view, int64_t blocks, Finding& finding) {
  const int64_t parts = blocks > 0 ? view.machine.sm_count / blocks : 0;
  std::vector<std::string> splits;
  for (int64_t split = parts; split > 1; split /= 2) splits.push_back(std::to_string(split));
  if (auto split = view.setting("split", splits, "divide the reduction among blocks"))
    finding.actions.push_back(std::move(*split));
  if (auto tile = view.setting("tile", smaller_tiles(view.kernel), "smaller tiles make more blocks"))
    finding.actions.push_back(std::move(*tile));
}

// How many times as many blocks an SM with work could hold: what hides the latency of memory. 1 for a kernel that does
// not wait for memory.
double more_blocks(const KernelView& view, const StepFacts& step) {
  const bool waits = view.limited == Class::kDram || view.limited == Class::kL2 || view.limited == Class::kLatency;
  return waits && step.occupancy ? std::max<double>(1, static_cast<double>(step.occupancy->blocks_per_sm)) : 1;
}

void find_idle_sms(const Tool& tool, const KernelView& view, std::vector<Finding>& out) {
  for (const StepFacts* step : view.steps()) {
    if (step->entry.empty()) continue;
    const int64_t blocks = step->grid[0] * step->grid[1] * step->grid[2];
    const double busy = static_cast<double>(blocks) / view.machine.sm_count;
    if (busy >= tool.threshold("busy")) continue;
    const double more = more_blocks(view, *step);
    const std::string spread = "if its work were spread over all SMs";
    Finding finding = finding_on(
        tool, view,
        fmt::format("`{}` has {} blocks for {} SMs: {:.0f} % of them are idle", step->entry, blocks,
                    view.machine.sm_count, 100 * (1 - busy)),
        view.gain_of(*step, more / busy,
                     more > 1 ? fmt::format("{}, in the {:.0f} blocks that each can hold", spread, more) : spread));
    finding.place.step = step->step;
    finding.evidence.push_back(evidence("blocks", static_cast<double>(blocks), "", "plan"));
    finding.evidence.push_back(evidence("SMs", view.machine.sm_count, "", "plan"));
    add_settings(view, blocks, finding);
    finding.actions.push_back(advice("smaller tiles or fewer rows a block; divide the reduction among blocks"));
    out.push_back(std::move(finding));
  }
}

}  // namespace

extern const Tool solstice_tools_small_grid;
const Tool solstice_tools_small_grid{
    .name = "small grid",
    .question = "Do SMs stay idle because there are too few blocks?",
    .sources = {"plan"},
    .classes = {},
    .thresholds = {{"busy", 0.9, "share of SMs",
                    "chosen: a tenth of the GPU idle, twice a finding of medium severity"}},
    .of_kernel = find_idle_sms,
    .explains = {"SM imbalance", "last wave of tiles"},
};

}  // namespace solstice::diagnose
