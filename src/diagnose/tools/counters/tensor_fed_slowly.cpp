// Tensor cores that wait for operands or for instructions.
#include <fmt/format.h>

#include <algorithm>

#include "diagnose/tool.h"

namespace solstice::diagnose {
namespace {

void find_hungry(const Tool& tool, const KernelView& view, std::vector<Finding>& out) {
  for (const StepFacts* step : view.steps()) {
    const auto busy = counter(*step, "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active");
    const bool multiplies = step->sass && count_of(step->sass->mix, "wgmma") + count_of(step->sass->mix, "mma") > 0;
    if (!busy || *busy <= 0 || !multiplies || *busy >= tool.threshold("busy")) continue;
    Finding finding = finding_on(
        tool, view,
        fmt::format("the tensor cores of `{}` work in {:.0f} % of the cycles of its SMs", step->entry, 100 * *busy),
        view.gain_of(*step, tool.threshold("best") / *busy, "if they were as busy as in the best product"));
    finding.place.step = step->step;
    finding.place.part = "main loop";
    finding.evidence.push_back(evidence("tensor cores busy", 100 * *busy, "%", "counters"));
    finding.evidence.push_back(
        evidence("waiting for loads", 100 * stall(*step, "long_scoreboard").value_or(0), "% of samples", "counters"));
    finding.evidence.push_back(
        evidence("waiting at barriers", 100 * stall(*step, "barrier").value_or(0), "% of samples", "counters"));
    finding.actions.push_back(advice("larger tiles, more stages, two groups of warps that take turns"));
    out.push_back(std::move(finding));
  }
}

}  // namespace

extern const Tool solstice_tools_tensor_fed_slowly;
const Tool solstice_tools_tensor_fed_slowly{
    .name = "tensor cores fed slowly",
    .question = "Do tensor cores wait for operands or instructions?",
    .sources = {"counters", "sass"},
    .classes = {Class::kTensor},
    .thresholds = {{"busy", 0.79, "share of its SMs' cycles",
                    "the ceiling of a large product over the datasheet's peak, H200: 777 of 989.5 TFLOP/s"},
                   {"best", 0.96, "share of its SMs' cycles", "the most seen on an H200 (tests/sick, six products)"}},
    .of_kernel = find_hungry,
    .says = Says::kUnit,
};

}  // namespace solstice::diagnose
