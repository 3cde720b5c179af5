#include "diagnose/tool.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "diagnose/counters/counter_table.h"
#include "numerics/math.h"

namespace solstice::diagnose {
namespace {

constexpr double kHigh = 1.15, kMedium = 1.05, kLow = 1.01;  // bounds of the gain that a severity begins at
constexpr double kMostGain = 1e6;                            // of a step that is gone

}  // namespace

std::vector<std::string> counters_to_ask(const std::vector<const Tool*>& tools) {
  std::vector<std::string> asked = class_metrics();
  for (const Tool* tool : tools) {
    if (tool->elsewhere) return counter_metrics();
    for (const auto* metrics : {&tool->counters, &tool->or_counters})
      asked.insert(asked.end(), metrics->begin(), metrics->end());
  }
  std::vector<std::string> out = counter_metrics();
  std::erase_if(out, [&](const std::string& metric) { return !is_among(asked, metric); });
  return out;
}

bool is_among(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

FindingSeverity severity_of(const GainBound& bound) {
  const double gain = bound.program;
  if (bound.open) return FindingSeverity::kMedium;
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

std::optional<double> KernelView::over_bound() const {
  if (!kernel.bound || kernel.bound->value <= 0 || time().value <= 0) return std::nullopt;
  return std::max(1.0, time() / *kernel.bound);
}

double KernelView::most() const {
  const std::optional<double> over = kernel.measured ? over_bound() : std::nullopt;
  return over.value_or(std::numeric_limits<double>::max());
}

Seconds longest_need(const KernelSheet& kernel) {
  Seconds out;
  for (const ResourceNeed& need : kernel.needs) out = std::max(out, need.time);
  return out;
}

double share_of_kernel(const KernelView& view, const StepFacts& step) {
  const bool known = step.measured && view.kernel.measured && view.kernel.measured->value > 0;
  return known ? std::min(1.0, *step.measured / *view.kernel.measured) : 1;
}

double gain_without(double share) { return 1 / std::max(1 - share, 1 / kMostGain); }

GainBound open_bound(std::string why) { return {1, 1, "not bounded: " + std::move(why), true}; }

Confidence confidence_of_guess(const StepFacts& step) {
  return step.counters && !step.counters->stalls.empty() ? Confidence::kMedium : Confidence::kLow;
}

namespace {

constexpr const char* kNotKnown = "its time, or the bound of its equations, is not known";

}  // namespace

GainBound KernelView::gain_to_bound(std::string because) const {
  const std::optional<double> over = over_bound();
  if (!over) return open_bound(kNotKnown);
  return gain(*over, (because.empty() ? "" : because + ", ") + "to the bound of its equations");
}

GainBound KernelView::gain_to_bound(const StepFacts& step, std::string because) const {
  if (!kernel.measured) return open_bound("nobody timed it, and a prediction may know nothing of this");
  if (!step.measured || !over_bound()) return gain_to_bound(std::move(because));
  return gain_of(step, kMostGain, because.empty() ? "without the time of this step" : std::move(because));
}

std::optional<FindingAction> KernelView::setting(const std::string& knob, const std::vector<std::string>& values,
                                                 std::string text) const {
  const auto now = kernel.knobs.find(knob);
  if (now == kernel.knobs.end()) return std::nullopt;
  for (const std::string& value : values) {
    if (value == now->second) continue;
    FindingAction action = change_knobs(*this, {{knob, value}}, text);
    if (!legal || !*legal || (*legal)(action)) return action;
  }
  return std::nullopt;
}

std::optional<Seconds> KernelView::tensor_time(double m, double n, double k) const {
  const auto math = numerics::math_from_name(kernel.math);
  if (!math || !numerics::info(*math).tensor) return std::nullopt;
  const auto pipe = machine::pipe_from_name(numerics::pipe_name(*math));
  if (!pipe || !machine.has(*pipe)) return std::nullopt;
  const double rate = machine.ceiling(*pipe)->per_second / machine.sm_count / numerics::info(*math).products;
  return Seconds(2 * m * n * k / rate);
}

GainBound KernelView::gain(double kernel_gain, std::string because) const {
  const double capped = std::clamp(kernel_gain, 1.0, std::max(most(), 1.0));
  if (capped < kernel_gain) because += fmt::format(", at most {:.3g}x to the bound of its equations", capped);
  return {1 / (1 - share + share / capped), capped, std::move(because)};
}

GainBound KernelView::gain_of(const StepFacts& step, double step_gain, std::string because) const {
  const double part = share_of_kernel(*this, step);
  return gain(1 / (1 - part + part / std::max(step_gain, 1.0)), std::move(because));
}

Seconds ProgramView::time() const { return facts.measured.value_or(facts.predicted.value_or(Seconds(0))); }

std::optional<double> ProgramView::over_bound() const {
  const std::optional<Seconds> bound = facts.bounds.practical ? facts.bounds.practical : facts.bounds.work;
  if (!bound || bound->value <= 0 || time().value <= 0) return std::nullopt;
  return std::max(1.0, time() / *bound);
}

const KernelView* ProgramView::kernel(std::string_view name) const {
  for (const KernelView& each : kernels) {
    if (each.kernel.kernel == name) return &each;
  }
  return nullptr;
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
  out.severity = severity_of(gain);
  out.cause = std::move(cause);
  out.gain = std::move(gain);
  out.sources = tool.sources;
  return out;
}

Finding finding_on(const Tool& tool, const KernelView& view, std::string cause, GainBound gain) {
  Finding out = finding_on(tool, std::move(cause), std::move(gain));
  if (out.gain.open) out.severity = std::min(out.severity, severity_of({gain_without(view.share), 1, ""}));
  out.place.kernel = view.kernel.kernel;
  if (view.kernel.equations.size() == 1) {
    out.place.equation = view.kernel.equations[0].text;
    out.place.line = view.kernel.equations[0].line;
  }
  return out;
}

namespace {

bool is_work(const SassLoop& loop) { return loop.does != "wait" && !loop.per_lane; }

// The innermost loop that does some work and has the largest `weight`; null: none has a positive one.
template <typename Weight>
const SassLoop* innermost(const std::vector<SassLoop>& loops, const Weight& weight) {
  const SassLoop* best = nullptr;
  for (size_t i = 0; i < loops.size(); ++i) {
    const bool outer = std::any_of(loops.begin(), loops.end(), [&](const SassLoop& inner) {
      return inner.parent == static_cast<int>(i) && is_work(inner) && weight(inner) > 0;
    });
    if (outer || !is_work(loops[i]) || weight(loops[i]) <= 0) continue;
    if (!best || weight(loops[i]) > weight(*best)) best = &loops[i];
  }
  return best;
}

}  // namespace

const SassMix* hot_code(const StepFacts& step) {
  if (!step.sass) return nullptr;
  const SassLoop* best =
      innermost(step.sass->loops, [](const SassLoop& loop) { return static_cast<double>(loop.mix.instructions); });
  return best ? &best->mix : &step.sass->mix;
}

const SassMix* access_code(const StepFacts& step, bool store) {
  if (!step.sass) return nullptr;
  const SassLoop* best =
      innermost(step.sass->loops, [&](const SassLoop& loop) { return mean_access(loop.mix, "global", store).count; });
  if (best) return &best->mix;
  // Next to loops without any, those around them are rare.
  return std::any_of(step.sass->loops.begin(), step.sass->loops.end(), is_work) ? nullptr : &step.sass->mix;
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

std::optional<Seconds> memory_latency(const machine::Machine& machine) { return machine.measured.grid_sync; }

std::vector<std::string> stalls_of_instructions() {
  return {"selected",         "not_selected",     "wait",           "math_pipe_throttle", "mio_throttle",
          "short_scoreboard", "branch_resolving", "dispatch_stall", "no_instruction",     "imc_miss"};
}

std::vector<std::string> stalls_of_memory() { return {"long_scoreboard", "lg_throttle", "tex_throttle", "drain"}; }

std::vector<std::string> stalls_of_requests() {
  std::vector<std::string> out = stalls_of_memory();
  out.emplace_back("mio_throttle");
  return out;
}

std::vector<std::string> stalls_of_narrow_accesses() {
  std::vector<std::string> out = stalls_of_memory();
  for (const char* reason : {"selected", "not_selected", "wait", "dispatch_stall"}) out.emplace_back(reason);
  return out;
}

std::vector<std::string> stalls_of_atomics() {
  std::vector<std::string> out = stalls_of_narrow_accesses();
  for (const char* reason : {"mio_throttle", "short_scoreboard", "membar"}) out.emplace_back(reason);
  return out;
}

Evidence evidence(std::string what, double value, std::string unit, std::string source) {
  return {std::move(what), value, std::move(unit), std::move(source)};
}

FindingAction change_knobs(const KernelView& view, std::map<std::string, std::string> knobs, std::string text) {
  return {ActionKind::kKnobs, std::move(text), view.kernel.kernel, std::move(knobs), ""};
}

FindingAction advice(std::string text) { return {ActionKind::kText, std::move(text), "", {}, ""}; }

}  // namespace solstice::diagnose
