#include "diagnose/readings.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

namespace solstice::diagnose {
namespace {

const SourceState* source_named(const Facts& facts, std::string_view name) {
  for (const SourceState& source : facts.sources) {
    if (source.name == name && source.there) return &source;
  }
  return nullptr;
}

// Why the source says nothing of the step; nothing: it does.
std::optional<std::string> missing_step(const SourceState& source, const StepFacts& step) {
  const auto missing = source.missing.find(step.step);
  return missing == source.missing.end() ? std::nullopt : std::optional(missing->second);
}

std::optional<std::string> missing_counters(const Tool& tool, const SourceState& source, const StepFacts& step) {
  if (!step.counters) return missing_step(source, step).value_or("its counters were not read");
  for (const std::string& metric : tool.counters) {
    if (!counter(step, metric)) return fmt::format("no value of {}", metric);
  }
  if (tool.warp_states && step.counters->stalls.empty()) return "its warps were not sampled";
  return std::nullopt;
}

void add_open(const SourceState& source, const std::string& why, const StepFacts& step, const Tool& tool,
              std::vector<OpenQuestion>& out) {
  for (OpenQuestion& open : out) {
    if (open.source == source.name && open.why == why) return open.steps.push_back(step.step);
  }
  out.push_back({tool.name, tool.question, source.name, why, source.opens, {step.step}});
}

// Counters whose value depends on what L2 held: requests to it are the same whatever it has.
bool goes_by_memory(const Tool& tool) {
  const auto is_memory = [](const std::string& metric) {
    return metric.find("dram") != metric.npos || metric.find("hit_rate") != metric.npos;
  };
  return std::any_of(tool.counters.begin(), tool.counters.end(), is_memory);
}

// Of the finding's step, else of the first of the kernel that has any.
const CounterFacts* counters_at(const KernelView& view, const Finding& finding) {
  for (const StepFacts* step : view.steps()) {
    const bool meant = finding.place.step.empty() || finding.place.step == step->step;
    if (meant && step->counters) return &*step->counters;
  }
  return nullptr;
}

}  // namespace

std::vector<OpenQuestion> open_steps(const Tool& tool, const KernelView& view) {
  std::vector<OpenQuestion> out;
  const SourceState* counters = source_named(view.facts, "counters");
  const SourceState* sass = source_named(view.facts, "sass");
  const bool counts = counters && (!tool.counters.empty() || tool.warp_states);
  const bool reads_code = sass && is_among(tool.sources, "sass");
  for (const StepFacts* step : view.steps()) {
    if (step->entry.empty()) continue;
    const auto no_code = reads_code ? missing_step(*sass, *step) : std::nullopt;
    const auto no_counters = counts ? missing_counters(tool, *counters, *step) : std::nullopt;
    if (no_code)
      add_open(*sass, *no_code, *step, tool, out);
    else if (no_counters)
      add_open(*counters, *no_counters, *step, tool, out);
  }
  return out;
}

void say_how_read(const Tool& tool, const KernelView& view, Finding& finding) {
  const CounterFacts* counters = counters_at(view, finding);
  if (!counters) return;
  const bool cold = counters->cold && goes_by_memory(tool);
  std::string how = "counters";
  if (!counters->of.empty()) how += fmt::format(" of `{}`, a launch alike", counters->of);
  if (cold) how += ", caches empty before it";
  bool any = false;
  for (Evidence& each : finding.evidence) {
    if (each.source != "counters") continue;
    each.source = how;
    any = true;
  }
  if (any && cold) finding.confidence = std::min(finding.confidence, Confidence::kMedium);
}

}  // namespace solstice::diagnose
