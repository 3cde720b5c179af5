#include "diagnose/tool.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "diagnose/counters/counter_table.h"

namespace solstice::diagnose {
namespace {

constexpr double kHigh = 1.15, kMedium = 1.05, kLow = 1.01;  // bounds of the gain that a severity begins at

}  // namespace

FindingSeverity severity_of(double gain) {
  if (gain >= kHigh) return FindingSeverity::kHigh;
  if (gain >= kMedium) return FindingSeverity::kMedium;
  return gain >= kLow ? FindingSeverity::kLow : FindingSeverity::kNote;
}

Seconds KernelView::time() const { return kernel.measured.value_or(kernel.predicted.value_or(Seconds(0))); }

std::vector<const StepFacts*> KernelView::steps() const {
  std::vector<const StepFacts*> out;
  for (const StepFacts& step : kernel.steps) {
    if (step.is_usual()) out.push_back(&step);
  }
  return out;
}

double KernelView::over_bound() const {
  if (!kernel.bound || kernel.bound->value <= 0 || time().value <= 0) return 1;
  return std::max(1.0, time() / *kernel.bound);
}

GainBound KernelView::gain(double kernel_gain, std::string because) const {
  const double capped = std::clamp(kernel_gain, 1.0, kernel.bound ? over_bound() : kernel_gain);
  if (capped < kernel_gain) because += fmt::format(", at most {:.3g}x to the bound of its equations", capped);
  return {1 / (1 - share + share / capped), capped, std::move(because)};
}

GainBound KernelView::gain_of(const StepFacts& step, double step_gain, std::string because) const {
  const bool known = step.measured && kernel.measured && kernel.measured->value > 0;
  const double part = known ? std::min(1.0, *step.measured / *kernel.measured) : 1;
  return gain(1 / (1 - part + part / std::max(step_gain, 1.0)), std::move(because));
}

Seconds ProgramView::time() const { return facts.measured.value_or(facts.predicted.value_or(Seconds(0))); }

double ProgramView::over_bound() const {
  if (!facts.bounds.practical || facts.bounds.practical->value <= 0 || time().value <= 0) return 1;
  return std::max(1.0, time() / *facts.bounds.practical);
}

double Tool::threshold(std::string_view which) const {
  for (const Threshold& each : thresholds) {
    if (each.name == which) return each.value;
  }
  std::abort();  // a tool asks for its own table
}

Finding finding_on(const Tool& tool, std::string cause, GainBound gain) {
  Finding out;
  out.tool = tool.name;
  out.severity = severity_of(gain.program);
  out.cause = std::move(cause);
  out.gain = std::move(gain);
  out.sources = tool.sources;
  return out;
}

Finding finding_on(const Tool& tool, const KernelView& view, std::string cause, GainBound gain) {
  Finding out = finding_on(tool, std::move(cause), std::move(gain));
  out.place.kernel = view.kernel.kernel;
  if (view.kernel.equations.size() == 1) {
    out.place.equation = view.kernel.equations[0].text;
    out.place.line = view.kernel.equations[0].line;
  }
  return out;
}

const SassMix* hot_code(const StepFacts& step) {
  if (!step.sass) return nullptr;
  const std::vector<SassLoop>& loops = step.sass->loops;
  const SassLoop* best = nullptr;
  for (size_t i = 0; i < loops.size(); ++i) {
    if (loops[i].does == "wait" || loops[i].per_lane) continue;
    const bool outer = std::any_of(loops.begin(), loops.end(), [&](const SassLoop& inner) {
      return inner.parent == static_cast<int>(i) && inner.does != "wait" && !inner.per_lane;
    });
    if (!outer && (!best || loops[i].mix.instructions > best->mix.instructions)) best = &loops[i];
  }
  return best ? &best->mix : &step.sass->mix;
}

double count_of(const SassMix& mix, const std::string& kind) {
  const auto found = mix.counts.find(kind);
  return found == mix.counts.end() ? 0 : static_cast<double>(found->second);
}

MeanAccess mean_access(const SassMix& mix, std::string_view space, bool store) {
  MeanAccess out;
  for (const SassAccess& access : mix.accesses) {
    if (access.space != space || access.store != store) continue;
    out.count += static_cast<double>(access.count);
    out.bits += static_cast<double>(access.bits) * static_cast<double>(access.count);
  }
  if (out.count > 0) out.bits /= out.count;
  return out;
}

std::optional<double> counter(const StepFacts& step, std::string_view metric) {
  return step.counters ? counter_value(*step.counters, metric) : std::nullopt;
}

std::optional<double> stall(const StepFacts& step, std::string_view reason) {
  if (!step.counters || step.counters->stalls.empty()) return std::nullopt;
  const auto found = step.counters->stalls.find(std::string(reason));
  return found == step.counters->stalls.end() ? 0.0 : found->second;
}

Evidence evidence(std::string what, double value, std::string unit, std::string source) {
  return {std::move(what), value, std::move(unit), std::move(source)};
}

FindingAction change_knobs(const KernelView& view, std::map<std::string, std::string> knobs, std::string text) {
  return {ActionKind::kKnobs, std::move(text), view.kernel.kernel, std::move(knobs), ""};
}

FindingAction advice(std::string text) { return {ActionKind::kText, std::move(text), "", {}, ""}; }

}  // namespace solstice::diagnose
