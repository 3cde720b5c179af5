// A ring of stages that holds too little work: tensor cores are through with it before the next loads arrive.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "diagnose/pipeline.h"

namespace solstice::diagnose {
namespace {

// Of the machine's tensor pipe, if it was counted: the rest is the most that better feeding brings.
double counted_limit(const StepFacts& step) {
  const auto busy = counter(step, "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active");
  return busy && *busy > 0 ? 1 / std::min(1.0, *busy) : 1e9;
}

void add_stages(const KernelView& view, const Pipeline& found, Finding& finding) {
  const int64_t stages = std::min(found.needed, found.fitting);
  if (stages > found.stages)
    finding.actions.push_back(change_knobs(view, {{"stages", std::to_string(stages)}}, "as many stages as cover it"));
  finding.actions.push_back(advice("more stages; a smaller tile, whose stages are smaller, or two blocks an SM"));
}

void find_shallow(const Tool& tool, const KernelView& view, std::vector<Finding>& out) {
  const std::optional<Pipeline> found = pipeline_of(view);
  if (!found) return;
  const double ahead = found->stage_time.value * static_cast<double>(found->stages * found->blocks - 1);
  if (ahead >= tool.threshold("ahead") * found->latency.value) return;
  // All stages go around once in a latency and the time of one.
  const double around = (found->latency + found->stage_time).value / static_cast<double>(found->stages * found->blocks);
  const double gain = std::min(around / found->stage_time.value, counted_limit(*found->step));
  Finding finding =
      finding_on(tool, view,
                 fmt::format("{} stages of `{}` hold {:.2f} us of products in advance, and loads take {:.2f} us",
                             found->stages, found->step->entry, ahead * 1e6, found->latency.value * 1e6),
                 view.gain_of(*found->step, gain, "if a stage took no longer than its products"));
  finding.place.step = found->step->step;
  finding.place.part = "main loop";
  finding.evidence.push_back(evidence("stages", static_cast<double>(found->stages), "", "plan"));
  finding.evidence.push_back(evidence("products of a stage", found->stage_time.value * 1e6, "us", "plan"));
  finding.evidence.push_back(evidence("latency of loads", found->latency.value * 1e6, "us", "plan"));
  add_stages(view, *found, finding);
  out.push_back(std::move(finding));
}

}  // namespace

extern const Tool solstice_tools_shallow_pipeline;
const Tool solstice_tools_shallow_pipeline{
    .name = "shallow pipeline",
    .question = "Do too few stages cover the latency of loads?",
    .sources = {"ptxas", "plan"},
    .classes = {},
    .thresholds = {{"ahead", 1, "x of the latency",
                    "what tensor cores do while loads are under way, at the machine's ceiling; the latency is that of "
                    "a barrier over all SMs (machine file), two trips to L2 and back"}},
    .of_kernel = find_shallow,
    .explains = {"tensor cores fed slowly"},
    .or_counters = {"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active"},
};

}  // namespace solstice::diagnose
