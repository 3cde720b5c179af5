// Clocks below the highest: the GPU holds its power limit, so energy is what the kernel has to save.
#include <fmt/format.h>

#include <algorithm>

#include "diagnose/tool.h"

namespace solstice::diagnose {
namespace {

struct Clock {
  Hertz value;
  std::string source;
};

// By the cycles that were counted, else as NVML read it right after the timed calls.
std::optional<Clock> clock_of(const KernelView& view) {
  double most = 0;
  Clock of_longest;
  for (const StepFacts* step : view.steps()) {
    const auto cycles = counter(*step, "sm__cycles_elapsed.max"), seconds = counter(*step, "gpu__time_duration.sum");
    if (!cycles || !seconds || *seconds <= 0 || *cycles <= most) continue;
    most = *cycles;
    of_longest = {Hertz(*cycles / *seconds), "counters"};
  }
  if (most > 0) return of_longest;
  if (view.facts.clocks && view.facts.clocks->sm_mhz > 0) return Clock{Hertz(view.facts.clocks->sm_mhz * 1e6), "trace"};
  return std::nullopt;
}

void find_lowered(const Tool& tool, const KernelView& view, std::vector<Finding>& out) {
  const std::optional<Clock> clock = clock_of(view);
  if (!clock || clock->value.value <= 0) return;
  const double share = clock->value / view.machine.max_clock;
  if (share > tool.threshold("clock")) return;
  Finding finding = finding_on(
      tool, view,
      fmt::format("the SMs ran at {:.0f} MHz, {:.0f} % of their highest clock", clock->value.value / 1e6, 100 * share),
      view.gain(1 / share, "at the highest clock"));
  finding.evidence.push_back(evidence("SM clock", clock->value.value / 1e6, "MHz", clock->source));
  finding.evidence.push_back(evidence("highest", view.machine.max_clock.value / 1e6, "MHz", "plan"));
  if (view.facts.clocks && view.facts.clocks->watts > 0)
    finding.evidence.push_back(evidence("power", view.facts.clocks->watts, "W", "trace"));
  finding.actions.push_back(
      advice("less energy for each result: fewer products, fewer bytes moved; or a higher power limit"));
  out.push_back(std::move(finding));
}

}  // namespace

extern const Tool solstice_tools_lowered_clocks;
const Tool solstice_tools_lowered_clocks{
    .name = "lowered clocks",
    .question = "Does the GPU's power limit lower its clocks?",
    .sources = {"trace"},
    .classes = {Class::kTensor, Class::kSimt, Class::kSfu, Class::kIssue},
    .thresholds = {{"clock", 0.95, "share of the highest",
                    "a warm card at its power cap reaches 3 to 5 % less in tensor products (machine file)"}},
    .of_kernel = find_lowered,
    .says = Says::kUnit,
    .or_counters = {"sm__cycles_elapsed.max", "gpu__time_duration.sum"},
};

}  // namespace solstice::diagnose
