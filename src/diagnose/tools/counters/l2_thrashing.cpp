// Data that would fit L2 is pushed out of it and read from memory again.
#include <fmt/format.h>

#include <algorithm>

#include "diagnose/tool.h"

namespace solstice::diagnose {
namespace {

double bytes_read_once(const KernelSheet& kernel) {
  double out = 0;
  for (const TensorFacts& tensor : kernel.tensors) out += tensor.written ? 0 : tensor.bytes.value;
  return out;
}

double bytes_of(const KernelSheet& kernel) {
  double out = 0;
  for (const TensorFacts& tensor : kernel.tensors) out += tensor.bytes.value;
  return out;
}

void find_thrashing(const Tool& tool, const KernelView& view, std::vector<Finding>& out) {
  // What exceeds L2 is read again for want of room: another tool's.
  const double need = bytes_read_once(view.kernel);
  if (need <= 0 || bytes_of(view.kernel) > view.machine.l2.value) return;
  for (const StepFacts* step : view.steps()) {
    const auto moved = counter(*step, "dram__bytes_read.sum");
    if (!moved || *moved < tool.threshold("bytes") * need || view.steps().size() > 1) continue;
    const Seconds again((*moved - need) / view.machine.read_ceiling().per_second);
    const double share = view.time().value > 0 ? again / view.time() : 0;
    if (share < tool.threshold("share")) continue;
    Finding finding = finding_on(
        tool, view,
        fmt::format("`{}` reads {:.2f} times the bytes of its tensors from memory, though all of them fit L2",
                    step->entry, *moved / need),
        view.gain_to_bound(*step, "if no byte were read again"));
    finding.place.step = step->step;
    finding.evidence.push_back(evidence("read from memory", *moved, "B", "counters"));
    finding.evidence.push_back(evidence("tensors", need, "B", "plan"));
    if (const auto hits = counter(*step, "lts__t_sector_op_read_hit_rate.pct"))
      finding.evidence.push_back(evidence("reads that hit L2", 100 * *hits, "%", "counters"));
    finding.actions.push_back(
        advice("blocks that share data next to each other in time; loads that do not stay in L2"));
    finding.confidence = confidence_of_guess(*step);
    out.push_back(std::move(finding));
  }
}

}  // namespace

extern const Tool solstice_tools_l2_thrashing;
const Tool solstice_tools_l2_thrashing{
    .name = "L2 thrashing",
    .question = "Is what fits L2 read from memory again?",
    .sources = {"counters", "plan"},
    .classes = {},
    .thresholds = {{"bytes", 1.25, "x of its tensors", "a quarter is read twice"},
                   {"share", 0.03, "share of the kernel's time", "below it nothing is won"}},
    .of_kernel = find_thrashing,
    .shows_as = stalls_of_memory(),
    .counters = {"dram__bytes_read.sum"},
    .or_counters = {"lts__t_sector_op_read_hit_rate.pct"},
};

}  // namespace solstice::diagnose
