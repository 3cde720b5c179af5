#include "diagnose/counters/chosen_launches.h"

#include <fmt/format.h>

#include <algorithm>

namespace solstice::diagnose {
namespace {

constexpr double kShortestShare = 0.05;  // of the time of a call: what nobody gains much by
constexpr const char* kOfGuard = "of a guard: it does no work on usual operands";

// Launches that are alike, the first in front.
struct Group {
  std::vector<const StepFacts*> steps;
  Seconds time;  // of all of them; 0: not measured
};

// What two launches that are alike have in common; data apart.
std::string likeness(const KernelSheet& kernel, const StepFacts& step) {
  std::string out = step.entry;
  for (const auto* extents : {&step.grid, &step.block, &step.cluster}) {
    for (const int64_t extent : *extents) out += fmt::format(" {}", extent);
  }
  out += fmt::format(" {} {} {}", step.shared_bytes.value_or(0), step.cooperative, step.pdl);
  for (const auto& [name, value] : kernel.knobs) out += fmt::format(" {}={}", name, value);
  return out;
}

std::vector<Group> groups_of(const Facts& facts, ChosenLaunches& out) {
  std::vector<Group> groups;
  std::map<std::string, size_t> known;
  for (const KernelSheet& kernel : facts.kernels) {
    for (const StepFacts& step : kernel.steps) {
      if (step.entry.empty() || step.prepare) continue;
      if (step.fallback) {
        out.left_out[step.step] = kOfGuard;
        continue;
      }
      const auto [at, fresh] = known.try_emplace(likeness(kernel, step), groups.size());
      if (fresh) groups.emplace_back();
      groups[at->second].steps.push_back(&step);
      groups[at->second].time += step.measured.value_or(Seconds(0));
    }
  }
  return groups;
}

// The shortest at the end of `groups`, which are sorted.
void leave_out_shortest(std::vector<Group>& groups, ChosenLaunches& out) {
  Seconds all, left;
  for (const Group& group : groups) all += group.time;
  while (!groups.empty() && groups.back().time.value > 0) {
    const Group& shortest = groups.back();
    left += shortest.time;
    if (left.value > kShortestShare * all.value) return;
    for (const StepFacts* step : shortest.steps)
      out.left_out[step->step] = fmt::format(
          "it is among the shortest, which take at most {:.0f} % of the time together", 100 * kShortestShare);
    groups.pop_back();
  }
}

// In the order in which they run; the first finds the caches of a timed call, which are empty.
void mark_cold(Facts& facts) {
  bool later = false;
  for (KernelSheet& kernel : facts.kernels) {
    for (StepFacts& step : kernel.steps) {
      if (step.counters) step.counters->cold = later;
      later = later || step.is_usual();
    }
  }
}

std::string summary_of(const std::map<std::string, std::string>& left_out) {
  std::map<std::string, size_t> by_reason;
  for (const auto& [step, why] : left_out) ++by_reason[why];
  std::string out;
  for (const auto& [why, count] : by_reason)
    out += fmt::format("{}{} launch{} left out: {}", out.empty() ? "" : "; ", count, count == 1 ? "" : "es", why);
  return out;
}

}  // namespace

ChosenLaunches choose_launches(const Facts& facts) {
  ChosenLaunches out;
  std::vector<Group> groups = groups_of(facts, out);
  std::stable_sort(groups.begin(), groups.end(), [](const Group& a, const Group& b) { return a.time > b.time; });
  leave_out_shortest(groups, out);
  for (const Group& group : groups) {
    const std::string& first = group.steps.front()->step;
    out.steps.push_back(first);
    for (size_t i = 1; i < group.steps.size(); ++i) out.alike[first].push_back(group.steps[i]->step);
  }
  return out;
}

void take_counters(CounterRun run, const ChosenLaunches& chosen, Facts& facts) {
  SourceState& source = run.source;
  for (const auto& [name, counters] : run.steps) {
    if (StepFacts* step = step_named(name, facts)) step->counters = counters;
  }
  for (const auto& [name, others] : chosen.alike) {
    const auto counters = run.steps.find(name);
    const auto missing = source.missing.find(name);
    for (const std::string& other : others) {
      if (missing != source.missing.end()) source.missing[other] = missing->second;
      StepFacts* step = step_named(other, facts);
      if (!step || counters == run.steps.end()) continue;
      step->counters = counters->second;
      step->counters->of = name;
    }
  }
  source.missing.insert(chosen.left_out.begin(), chosen.left_out.end());
  if (const std::string left_out = summary_of(chosen.left_out); source.there && !left_out.empty())
    source.why += (source.why.empty() ? "" : "; ") + left_out;
  mark_cold(facts);
  set_source(std::move(source), facts);
}

}  // namespace solstice::diagnose
