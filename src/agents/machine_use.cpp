#include "agents/machine_use.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "record/kernel_trace.h"

namespace solstice::agents {
namespace {

constexpr double kSmallKernel = 0.05;  // of the time: what is smaller is not spoken of
constexpr double kAlsoMuch = 0.25;     // share of a second resource that is worth a word

// "3.1 TB/s", "410 GFLOP/s".
std::string rate_text(double a_second, const std::string& unit) {
  const bool tera = a_second >= 1e12;
  return fmt::format("{:.3g} {}{}/s", a_second / (tera ? 1e12 : 1e9), tera ? "T" : "G", unit);
}

std::string name_of(const ResourceNeed& need) {
  if (need.resource == "dram") return "memory";
  if (need.resource == "l2") return "L2";
  return need.how.empty() ? need.resource : fmt::format("{} ({})", need.resource, need.how);
}

std::string text_of(const ResourceNeed& need, Seconds measured) {
  return fmt::format("{}, {:.0f} % of what {} gives", rate_text(need.amount / measured.value, need.unit),
                     100 * (need.time / measured), name_of(need));
}

// Text of the most used resource, and of a second one.
std::string text_of_most_used(std::vector<ResourceNeed> needs, Seconds measured) {
  if (needs.empty() || measured.value <= 0) return "";
  std::stable_sort(needs.begin(), needs.end(), [](const auto& a, const auto& b) { return a.time > b.time; });
  std::string out = text_of(needs[0], measured);
  if (needs.size() > 1 && needs[1].time / measured >= kAlsoMuch) out += ", " + text_of(needs[1], measured);
  return out;
}

std::vector<ResourceNeed> sum_of_needs(const std::vector<KernelFacts>& facts) {
  std::vector<ResourceNeed> out;
  for (const KernelFacts& kernel : facts) {
    for (const ResourceNeed& need : kernel.needs) {
      const auto at =
          std::find_if(out.begin(), out.end(), [&](const ResourceNeed& s) { return s.resource == need.resource; });
      if (at == out.end()) {
        out.push_back(need);
        continue;
      }
      at->amount += need.amount;
      at->time += need.time;
      if (at->how != need.how) at->how.clear();
    }
  }
  return out;
}

std::string text_of_traced(const KernelTrace& trace, const std::vector<KernelFacts>& facts) {
  Seconds sum;
  for (const TracedKernel& kernel : trace.kernels) sum += kernel.measured;
  std::vector<std::string> uses;
  for (const TracedKernel& kernel : trace.kernels) {
    if (kernel.measured < sum * kSmallKernel) continue;
    const auto found =
        std::find_if(facts.begin(), facts.end(), [&](const KernelFacts& f) { return f.kernel == kernel.kernel; });
    const std::string use = found == facts.end() ? "" : text_of_most_used(found->needs, kernel.measured);
    if (!use.empty()) uses.push_back(fmt::format("`{}` {}", kernel.kernel, use));
  }
  return uses.empty() ? "" : fmt::format("used: {}", fmt::join(uses, "; "));
}

}  // namespace

std::string text_of_use(const search::Measurement& measurement) {
  if (measurement.state != TrialState::kVerified) return "";
  const std::vector<KernelFacts> facts = kernel_facts_of(measurement.record);
  const Result<KernelTrace> trace = kernel_trace_of(measurement.record);
  if (trace.ok() && !trace->kernels.empty()) return text_of_traced(*trace, facts);
  const std::string use = text_of_most_used(sum_of_needs(facts), measurement.time);
  return use.empty() ? "" : "used by the whole call: " + use;
}

std::string text_of_choices(const search::Measurement& measurement) {
  std::vector<std::pair<std::string, std::vector<std::string>>> choices;  // and the kernels that are alike
  for (const KernelFacts& kernel : kernel_facts_of(measurement.record)) {
    if (kernel.chosen.empty()) continue;
    auto at =
        std::find_if(choices.begin(), choices.end(), [&](const auto& choice) { return choice.first == kernel.chosen; });
    if (at == choices.end()) at = choices.insert(choices.end(), {kernel.chosen, {}});
    at->second.push_back(fmt::format("`{}`", kernel.kernel));
  }
  std::vector<std::string> out;
  for (const auto& [chosen, kernels] : choices) out.push_back(fmt::format("{} {}", fmt::join(kernels, ", "), chosen));
  return out.empty() ? "" : fmt::format("left to the families: {}", fmt::join(out, "; "));
}

}  // namespace solstice::agents
