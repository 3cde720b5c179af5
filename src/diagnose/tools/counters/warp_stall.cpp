// What warps wait for, where one reason dominates.
#include <fmt/format.h>

#include <algorithm>

#include "diagnose/tool.h"

namespace solstice::diagnose {
namespace {

struct Reason {
  const char* name;
  const char* means;
  const char* remedy;
};
constexpr Reason kReasons[] = {
    {"long_scoreboard", "loads from memory", "more loads in flight a thread, more warps, or copies ahead of their use"},
    {"short_scoreboard", "shared memory or special functions", "fewer or wider accesses to shared memory"},
    {"lg_throttle", "the queue of memory instructions", "wider loads and stores"},
    {"mio_throttle", "the queue of shared memory and special functions", "wider accesses, cheaper functions"},
    {"math_pipe_throttle", "an arithmetic pipe", "less arithmetic, or spread over other pipes"},
    {"wait", "fixed latencies", "independent instructions between dependent ones"},
    {"drain", "stores at the end", "wider stores, or an earlier start of them"},
    {"imc_miss", "constants", "constants in registers"},
    {"no_instruction", "instructions", "shorter loops: less unrolling"},
    {"gmma", "results of tensor cores", "more products in flight: deeper stages, two groups of warps"},
    {"membar", "memory fences", "fewer fences"},
    {"sleeping", "its own sleep", "a barrier instead of polling"},
    {"tex_throttle", "the texture queue", "plain loads"}};

// Waiting for loads is what a kernel does that keeps memory busy.
bool is_bandwidth(const Tool& tool, const StepFacts& step, std::string_view reason) {
  const auto busy = counter(step, "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed");
  return reason == "long_scoreboard" && busy && *busy >= tool.threshold("busy");
}

void find_stalls(const Tool& tool, const KernelView& view, std::vector<Finding>& out) {
  for (const StepFacts* step : view.steps()) {
    for (const Reason& reason : kReasons) {
      const auto waiting = stall(*step, reason.name);
      if (!waiting || *waiting < tool.threshold("share") || is_bandwidth(tool, *step, reason.name)) continue;
      const double share = *waiting;
      Finding finding = finding_on(
          tool, view,
          fmt::format("warps of `{}` wait for {} in {:.0f} % of the samples", step->entry, reason.means, 100 * share),
          view.gain_of(*step, gain_without(share), fmt::format("without this stall: 1 / (1 - {:.2f})", share)));
      finding.place.step = step->step;
      name_stalled_place(*step, reason.name, finding);
      finding.evidence.push_back(evidence(fmt::format("samples in {}", reason.name), 100 * share, "%", "counters"));
      finding.actions.push_back(advice(reason.remedy));
      finding.confidence = share >= tool.threshold("critical") ? Confidence::kHigh : Confidence::kMedium;
      out.push_back(std::move(finding));
    }
  }
}

}  // namespace

extern const Tool solstice_tools_warp_stall;
const Tool solstice_tools_warp_stall{
    .name = "warp stall",
    .question = "Does one reason dominate what warps wait for?",
    .sources = {"counters"},
    .classes = {},
    .thresholds = {{"share", 0.4, "share of samples", "KernelPro, table 2"},
                   {"critical", 0.6, "share of samples", "KernelPro, table 2"},
                   {"busy", 0.6, "share of the peak", "KernelPro, section 4: below it a kernel waits for latency"}},
    .paper = "KernelPro: warp stall",
    .of_kernel = find_stalls,
    .says = Says::kSymptom,
    .or_counters = {"gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed"},
    .warp_states = true,
};

}  // namespace solstice::diagnose
