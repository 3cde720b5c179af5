// Memory is as busy as it can be: only fewer bytes help.
#include <fmt/format.h>

#include "diagnose/tool.h"

namespace solstice::diagnose {
namespace {

double moved_over_need(const KernelView& view, const StepFacts& step) {
  const auto read = counter(step, "dram__bytes_read.sum"), written = counter(step, "dram__bytes_write.sum");
  const double moved = read && written ? *read + *written : 0;  // 0: not known
  double need = 0;
  for (const ResourceNeed& each : view.kernel.needs) need += each.resource == "dram" ? each.amount : 0;
  return need > 0 && moved > 0 ? std::max(1.0, moved / need) : view.over_bound();
}

void find_saturated(const Tool& tool, const KernelView& view, std::vector<Finding>& out) {
  for (const StepFacts* step : view.steps()) {
    const auto busy = counter(*step, "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed");
    const double ceiling = view.machine.copy_ceiling().per_second / view.machine.dram_rate.value;
    if (!busy || *busy < tool.threshold("busy") * ceiling) continue;
    Finding finding = finding_on(
        tool, view,
        fmt::format("`{}` keeps memory {:.0f} % busy, {:.0f} % of what a copy reaches: only fewer bytes help",
                    step->entry, 100 * *busy, 100 * *busy / ceiling),
        view.gain_of(*step, moved_over_need(view, *step), "to the bytes of its equations, at the same rate"));
    finding.place.step = step->step;
    finding.evidence.push_back(evidence("memory throughput", 100 * *busy, "%", "counters"));
    finding.actions.push_back(advice("fuse with the kernel before or after; narrower tensors between kernels"));
    finding.confidence = Confidence::kHigh;
    out.push_back(std::move(finding));
  }
}

}  // namespace

extern const Tool solstice_tools_dram_saturated;
const Tool solstice_tools_dram_saturated{
    .name = "memory saturated",
    .question = "Is memory as busy as it can be?",
    .sources = {"counters"},
    .classes = {Class::kDram, Class::kL2, Class::kTensor, Class::kSimt},
    .thresholds = {{"busy", 0.9, "share of the ceiling of a copy",
                    "the machine file; KernelPro takes 80 % of the peak"}},
    .paper = "KernelPro: high DRAM throughput",
    .of_kernel = find_saturated,
    .says = Says::kUnit,
    .counters = {"gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed"},
    .or_counters = {"dram__bytes_read.sum", "dram__bytes_write.sum"},
};

}  // namespace solstice::diagnose
