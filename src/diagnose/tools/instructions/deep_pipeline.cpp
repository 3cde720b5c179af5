// A ring of more stages than the latency of loads needs, whose shared memory keeps a block from the SM.
#include <fmt/format.h>

#include "diagnose/occupancy.h"
#include "diagnose/pipeline.h"

namespace solstice::diagnose {
namespace {

// Blocks on an SM with so many stages; 0: none fits.
int64_t blocks_with(const KernelView& view, const Pipeline& found, int64_t stages) {
  std::optional<BlockNeeds> needs = needs_of(*found.step);
  if (!needs) return 0;
  needs->shared_bytes -= (found.stages - stages) * found.stage_bytes;
  const auto resident = occupancy_of(view.machine, *needs);
  return resident ? resident->blocks_per_sm : 0;
}

void find_deep(const Tool& tool, const KernelView& view, std::vector<Finding>& out) {
  const std::optional<Pipeline> found = pipeline_of(view);
  if (!found || found->stages <= found->needed + static_cast<int64_t>(tool.threshold("spare"))) return;
  const int64_t blocks = blocks_with(view, *found, found->needed);
  if (blocks <= found->blocks) return;  // the memory that it would free is of no use
  Finding finding = finding_on(
      tool, view,
      fmt::format("`{}` has {} stages where {} cover the latency of loads: with these an SM would hold {} blocks "
                  "in place of {}",
                  found->step->entry, found->stages, found->needed, blocks, found->blocks),
      view.gain_of(*found->step, static_cast<double>(blocks) / static_cast<double>(found->blocks),
                   "if its speed follows its resident blocks"));
  finding.place.step = found->step->step;
  finding.place.part = "main loop";
  finding.evidence.push_back(evidence("stages", static_cast<double>(found->stages), "", "plan"));
  finding.evidence.push_back(evidence("stages that cover the latency", static_cast<double>(found->needed), "", "plan"));
  finding.actions.push_back(
      change_knobs(view, {{"stages", std::to_string(found->needed)}}, "as many stages as the latency needs"));
  finding.confidence = Confidence::kLow;
  out.push_back(std::move(finding));
}

}  // namespace

extern const Tool solstice_tools_deep_pipeline;
const Tool solstice_tools_deep_pipeline{
    .name = "deep pipeline",
    .question = "Do stages that nothing needs keep a block from the SM?",
    .sources = {"ptxas", "plan"},
    .classes = {},
    .thresholds = {{"spare", 0, "stages", "beyond those that cover the latency, each only takes shared memory"}},
    .of_kernel = find_deep,
};

}  // namespace solstice::diagnose
