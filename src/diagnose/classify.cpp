#include "diagnose/classify.h"

#include <fmt/format.h>

#include <algorithm>

#include "record/fields.h"

namespace solstice::diagnose {
namespace {

// A second unit needed for this share of the first one's time makes a kernel mixed.
constexpr double kAlmostAsMuch = 0.8;

std::optional<Class> class_of(const std::string& resource) {
  if (resource == "dram") return Class::kDram;
  if (resource == "l2") return Class::kL2;
  if (resource == "sfu") return Class::kSfu;
  if (resource.starts_with("tensor.")) return Class::kTensor;
  if (resource.starts_with("simt.")) return Class::kSimt;
  return std::nullopt;
}

void add(std::vector<ClassShare>& needs, Class unit, Seconds time) {
  for (ClassShare& need : needs) {
    if (need.unit == unit) return void(need.time = std::max(need.time, time));
  }
  needs.push_back({unit, time});
}

// A launch and work that takes less than it end within two launches, as far as a time is known.
bool is_launch(Seconds most, std::optional<Seconds> measured, Seconds launches) {
  return most < launches && (!measured || *measured < launches * 2);
}

void settle_class(Classified& out, std::optional<Seconds> measured, Seconds launches) {
  std::stable_sort(out.needs.begin(), out.needs.end(), [](const auto& a, const auto& b) { return a.time > b.time; });
  if (out.needs.empty()) return;
  const Seconds most = out.needs.front().time;
  out.analytic = is_launch(most, measured, launches) ? Class::kLaunch : out.needs.front().unit;
  if (out.analytic != Class::kLaunch && out.needs.size() > 1 && out.needs[1].time > most * kAlmostAsMuch) {
    const bool both_memory = out.analytic == Class::kDram && out.needs[1].unit == Class::kL2;
    if (!both_memory) out.analytic = Class::kMixed;
  }
}

// Utilisation of each unit by ncu's names, a share of its peak.
struct Utilisation {
  Class unit;
  const char* metric;
};
constexpr Utilisation kUtilisations[] = {
    {Class::kDram, "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed"},
    {Class::kL2, "lts__throughput.avg.pct_of_peak_sustained_elapsed"},
    {Class::kTensor, "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed"},
    {Class::kSfu, "sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_active"},
    {Class::kSimt, "sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_active"},
    {Class::kIssue, "smsp__issue_active.avg.pct_of_peak_sustained_active"},
};
// Below it no unit is the one that is waited for (KernelPro, section 4: both pipes under 60 % is latency).
constexpr double kBusy = 0.6;

void measure(const KernelSheet& kernel, Classified& out) {
  Seconds longest;
  const CounterFacts* counters = nullptr;
  for (const StepFacts& step : kernel.steps) {
    if (!step.counters || step.prepare || step.measured.value_or(Seconds(0)) < longest) continue;
    longest = step.measured.value_or(Seconds(0));
    counters = &*step.counters;
  }
  if (!counters) return;
  size_t known = 0;
  for (const Utilisation& each : kUtilisations) {
    const auto found = counters->metrics.find(each.metric);
    if (found == counters->metrics.end()) continue;
    ++known;
    if (found->second <= out.measured_share) continue;
    out.measured_share = found->second;
    out.measured = each.unit;
  }
  // A unit that was not counted may be the busy one.
  if (out.measured_share < kBusy) {
    out.measured.reset();
    if (known == std::size(kUtilisations)) out.measured = Class::kLatency;
  }
  if (!out.measured || *out.measured == out.analytic || out.analytic == Class::kMixed) return;
  out.conflict = fmt::format("by its equations {}, by counters {} ({:.0f} % of its peak)", enum_name(out.analytic),
                             enum_name(*out.measured), 100 * out.measured_share);
}

}  // namespace

std::vector<std::string> class_metrics() {
  std::vector<std::string> out;
  for (const Utilisation& each : kUtilisations) out.emplace_back(each.metric);
  return out;
}

std::vector<const char*> enum_names(Class) {
  return {"tensor", "simt", "sfu", "issue", "dram", "l2", "latency", "launch", "mixed"};
}

Classified classify(const KernelSheet& kernel, const machine::Machine& machine) {
  Classified out;
  for (const ResourceNeed& need : kernel.needs) {
    if (const auto unit = class_of(need.resource)) add(out.needs, *unit, need.time);
  }
  settle_class(out, kernel.measured, machine.launch_time());
  measure(kernel, out);
  return out;
}

Classified classify(const Facts& facts, const machine::Machine& machine) {
  Classified out;
  std::map<Class, Seconds> sums;
  size_t launches = 0;
  for (const KernelSheet& kernel : facts.kernels) {
    if (kernel.once) continue;
    launches += kernel.launches();
    for (const ClassShare& need : classify(kernel, machine).needs) sums[need.unit] += need.time;
  }
  for (const auto& [unit, time] : sums) out.needs.push_back({unit, time});
  settle_class(out, facts.measured, machine.launch_time() * static_cast<double>(launches));
  return out;
}

}  // namespace solstice::diagnose
