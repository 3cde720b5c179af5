// Memory is as busy as it can be: only fewer bytes help.
#include <fmt/format.h>

#include "diagnose/tool.h"

namespace solstice::diagnose {
namespace {

// What comes from outside the program or leaves it is moved in any cut.
double bytes_of_any_cut(const KernelSheet& kernel) {
  double out = 0;
  for (const TensorFacts& tensor : kernel.tensors) out += tensor.kind == "intermediate" ? 0 : tensor.bytes.value;
  return out;
}

// At the same rate. Another cut changes the kernel's equations, so their bound does not hold it down.
GainBound gain_of_fewer_bytes(const KernelView& view, const StepFacts& step) {
  const auto read = counter(step, "dram__bytes_read.sum"), write = counter(step, "dram__bytes_write.sum");
  const double need = bytes_of_any_cut(view.kernel);
  if (!read || !write || need <= 0) return view.gain_to_bound(step, "with fewer bytes");
  const double gain = std::max(1.0, (*read + *write) / need), part = view.share * share_of_kernel(view, step);
  return {1 / (1 - part + part / gain), gain, "to the bytes that are moved in any cut, at the same rate"};
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
        gain_of_fewer_bytes(view, *step));
    finding.place.step = step->step;
    finding.evidence.push_back(evidence("memory throughput", 100 * *busy, "%", "counters"));
    finding.actions.push_back(advice("fuse with the kernel before or after; narrower tensors between kernels"));
    finding.confidence = Confidence::kHigh;
    out.push_back(std::move(finding));
  }
}

}  // namespace

extern const Tool solstice_tools_memory_saturated;
const Tool solstice_tools_memory_saturated{
    .name = "memory saturated",
    .question = "Is memory as busy as it can be?",
    .sources = {"counters"},
    .classes = {},
    .thresholds = {{"busy", 0.9, "share of the ceiling of a copy",
                    "the machine file; KernelPro takes 80 % of the peak"}},
    .paper = "KernelPro: high DRAM throughput",
    .of_kernel = find_saturated,
    .says = Says::kUnit,
    .counters = {"gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed"},
    .or_counters = {"dram__bytes_read.sum", "dram__bytes_write.sum"},
};

}  // namespace solstice::diagnose
