// Too few resident warps to hide the latency of memory: which resource keeps more of them away, and what would lift it.
// Kernels of tensor cores run on few warps by design, and are left out.
#include <fmt/format.h>

#include <algorithm>

#include "diagnose/access_width.h"
#include "diagnose/occupancy.h"
#include "diagnose/tool.h"
#include "numerics/math.h"

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

// Bytes of loads that are needed to hide memory's latency over those in flight: by the machine code, else with so many
// bytes of each thread.
double lacking_loads(const Tool& tool, const KernelView& view, const StepFacts& step) {
  InFlight loads = in_flight(view, step, false);
  if (loads.bytes <= 0) {
    constexpr double kThreads = 32;
    loads.bytes = static_cast<double>(step.occupancy->warps_per_sm) * kThreads * tool.threshold("bytes");
    loads.needed = needed_in_flight(view, false);
  }
  return loads.gain();
}

// What is in flight at once is an upper limit: blocks that load, then compute, then store keep less under way. Where
// the samples say that warps wait for loads, the rate that memory reached says how much was: by Little's law its part
// of a copy's. 1: nobody measured, or warps wait for something else.
double lacking_by_rate(const Tool& tool, const KernelView& view, const StepFacts& step) {
  const auto waiting = stall(step, "long_scoreboard");
  const auto busy = counter(step, "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed");
  if (!waiting || !busy || *busy <= 0 || *waiting < tool.threshold("waiting")) return 1;
  return std::max(1.0, view.machine.copy_ceiling().per_second / view.machine.dram_rate.value / *busy);
}

// By its machine code; without it by what its family makes of it.
bool runs_on_few_warps(const KernelView& view, const StepFacts& step) {
  if (step.sass) return count_of(step.sass->mix, "wgmma") + count_of(step.sass->mix, "mma") > 0;
  const auto math = numerics::math_from_name(view.kernel.math);
  return math && numerics::info(*math).tensor;
}

void find_limit(const Tool& tool, const KernelView& view, std::vector<Finding>& out) {
  for (const StepFacts* step : view.steps()) {
    const auto needs = needs_of(*step);
    if (!needs || !step->occupancy || runs_on_few_warps(view, *step)) continue;
    const OccupancyFacts& now = *step->occupancy;
    const double planned = lacking_loads(tool, view, *step), measured = lacking_by_rate(tool, view, *step);
    const double lacking = std::max(planned, measured);
    const double warps = static_cast<double>(now.warps_per_sm) / view.machine.warps_per_sm;
    // With less than a wave the grid, not a resource, is what leaves the SMs empty; and threads are what there is.
    if (std::min(lacking, 1 / warps) < tool.threshold("gain") || now.waves < 1 || now.limited_by == "threads") continue;
    Finding finding = finding_on(
        tool, view,
        fmt::format("`{}` has {} of {} warps on an SM, limited by {}, which may not hide its memory's latency",
                    step->entry, now.warps_per_sm, view.machine.warps_per_sm, now.limited_by),
        view.gain_of(*step, 1 / warps, "if its speed follows its resident warps"));
    finding.place.step = step->step;
    finding.evidence = {evidence("loads in flight lack", lacking, "x", measured > planned ? "counters" : "plan"),
                        evidence("resident warps", static_cast<double>(now.warps_per_sm), "an SM", "plan"),
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
    .classes = {},
    .thresholds = {{"bytes", 32, "a thread",
                    "in flight, where no machine code tells; chosen: two of the widest loads. What is needed is by "
                    "Little's law and "
                    "the machine file"},
                   {"gain", 1.05, "x", "a finding of medium severity"},
                   {"waiting", 0.6, "share of samples in long_scoreboard", "KernelPro, table 2: critical"}},
    .paper = "KernelPro: occupancy limiter",
    .of_kernel = find_limit,
    .shows_as = stalls_of_memory(),
    .or_counters = {"gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed"},
};

}  // namespace solstice::diagnose
