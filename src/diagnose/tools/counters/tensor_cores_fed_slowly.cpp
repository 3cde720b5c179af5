// Tensor cores that wait for operands or for instructions.
#include <fmt/format.h>

#include <algorithm>

#include "diagnose/tool.h"

namespace solstice::diagnose {
namespace {

// Share of the cycles in which tensor cores work in the best product that was measured on such a machine.
std::optional<double> best_share(const KernelView& view) {
  for (const ResourceNeed& need : view.kernel.needs) {
    const auto pipe = machine::pipe_from_name(need.resource);
    if (!pipe || !need.resource.starts_with("tensor.") || !view.machine.has(*pipe)) continue;
    return view.machine.ceiling(*pipe)->per_second / view.machine.peak(*pipe)->value;
  }
  return std::nullopt;
}

void find_hungry(const Tool& tool, const KernelView& view, std::vector<Finding>& out) {
  const std::optional<double> best = best_share(view);
  if (!best) return;
  for (const StepFacts* step : view.steps()) {
    const auto busy = counter(*step, "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active");
    const bool multiplies = step->sass && count_of(step->sass->mix, "wgmma") + count_of(step->sass->mix, "mma") > 0;
    if (!busy || *busy <= 0 || !multiplies || *busy >= tool.threshold("busy") * *best) continue;
    Finding finding = finding_on(
        tool, view,
        fmt::format("the tensor cores of `{}` work in {:.0f} % of the cycles of its SMs", step->entry, 100 * *busy),
        view.gain_of(*step, 1 / *busy, "if they worked in each cycle"));
    finding.place.step = step->step;
    finding.place.part = "main loop";
    finding.evidence.push_back(evidence("tensor cores busy", 100 * *busy, "%", "counters"));
    finding.evidence.push_back(evidence("in the best product", 100 * *best, "%", "plan"));
    for (const auto& [reason, what] : {std::pair("long_scoreboard", "loads"), std::pair("barrier", "barriers")}) {
      if (const auto share = stall(*step, reason))
        finding.evidence.push_back(
            evidence(fmt::format("waiting for {}", what), 100 * *share, "% of samples", "counters"));
    }
    finding.actions.push_back(advice("larger tiles, more stages, two groups of warps that take turns"));
    out.push_back(std::move(finding));
  }
}

}  // namespace

extern const Tool solstice_tools_tensor_cores_fed_slowly;
const Tool solstice_tools_tensor_cores_fed_slowly{
    .name = "tensor cores fed slowly",
    .question = "Do tensor cores wait for operands or instructions?",
    .sources = {"counters", "sass"},
    .classes = {},
    .thresholds = {{"busy", 1, "x of the best product's",
                    "the machine file: measured ceiling over the datasheet's peak, 79 % on an H200 in fp16"}},
    .of_kernel = find_hungry,
    .says = Says::kUnit,
    .counters = {"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active"},
};

}  // namespace solstice::diagnose
