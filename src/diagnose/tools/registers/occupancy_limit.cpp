// Too few resident warps to hide the latency of memory: which resource keeps more of them away, and what would lift it.
// Kernels of tensor cores run on few warps by design, and are left out.
#include <fmt/format.h>

#include <algorithm>

#include "diagnose/access_width.h"
#include "diagnose/occupancy.h"
#include "diagnose/tool.h"

namespace solstice::diagnose {
namespace {

// Registers a thread with which one block more is resident; 0: there is no such number.
int64_t registers_for_one_more(const machine::Machine& machine, BlockNeeds needs, int64_t resident) {
  for (int64_t registers = needs.registers - 1; registers >= 16; --registers) {
    needs.registers = registers;
    const auto found = occupancy_of(machine, needs);
    if (found && found->blocks_per_sm > resident) return registers;
  }
  return 0;
}

std::string remedy(const machine::Machine& machine, const BlockNeeds& needs, const OccupancyFacts& now) {
  if (now.limited_by == "registers") {
    const int64_t most = registers_for_one_more(machine, needs, now.blocks_per_sm);
    if (most > 0) return fmt::format("at most {} registers a thread let one block more in", most);
  }
  if (now.limited_by == "shared") return "less shared memory a block: fewer stages or a smaller tile";
  return "more threads a block";
}

// If its speed follows its resident warps, up to what hides memory's latency: by the loads that its code has in flight,
// where that is known.
double gain_of_warps(const Tool& tool, const KernelView& view, const StepFacts& step) {
  const double share = static_cast<double>(step.occupancy->warps_per_sm) / view.machine.warps_per_sm;
  const InFlight loads = in_flight(view, step, false);
  const double lacking = loads.bytes > 0 && loads.needed > 0 ? loads.gain() : 1;
  return std::min(std::max(tool.threshold("warps") / share, lacking), 1 / share);
}

void find_limit(const Tool& tool, const KernelView& view, std::vector<Finding>& out) {
  for (const StepFacts* step : view.steps()) {
    const auto needs = needs_of(*step);
    if (!needs || !step->occupancy) continue;
    const OccupancyFacts& now = *step->occupancy;
    const double gain = gain_of_warps(tool, view, *step);
    // With less than a wave the grid, not a resource, is what leaves the SMs empty; and threads are what there is.
    if (gain < tool.threshold("gain") || now.waves < 1 || now.limited_by == "threads") continue;
    Finding finding = finding_on(
        tool, view,
        fmt::format("`{}` has {} of {} warps on an SM, limited by {}, which may not hide its memory's latency",
                    step->entry, now.warps_per_sm, view.machine.warps_per_sm, now.limited_by),
        view.gain_of(*step, gain, "if its speed follows its resident warps, until they hide memory's latency"));
    finding.place.step = step->step;
    finding.evidence = {evidence("resident warps", static_cast<double>(now.warps_per_sm), "an SM", "plan"),
                        evidence("registers", static_cast<double>(needs->registers), "a thread", "ptxas"),
                        evidence("shared memory", static_cast<double>(needs->shared_bytes), "B/block", "ptxas")};
    finding.actions.push_back(advice(remedy(view.machine, *needs, now)));
    finding.confidence = Confidence::kLow;
    out.push_back(std::move(finding));
  }
}

}  // namespace

extern const Tool solstice_tools_occupancy_limit;
const Tool solstice_tools_occupancy_limit{
    .name = "occupancy limit",
    .question = "Which resource keeps more warps from an SM?",
    .sources = {"ptxas", "plan"},
    .classes = {Class::kDram, Class::kL2, Class::kLatency, Class::kSimt, Class::kSfu},
    .thresholds = {{"warps", 0.25, "share of an SM's warps",
                    "Little's law on an H200: 16 warps with 16-byte loads in flight cover DRAM's latency; KernelPro "
                    "takes 0.5"},
                   {"gain", 1.05, "x", "a finding of medium severity"}},
    .paper = "KernelPro: occupancy limiter",
    .of_kernel = find_limit,
    .shows_as = stalls_of_memory(),
};

}  // namespace solstice::diagnose
