#include "flow/history/run_comparison.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/line_diff.h"

namespace solstice::flow {
namespace {

Spread spread_of(std::vector<double> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  const size_t half = values.size() / 2;
  const double median = values.size() % 2 ? values[half] : (values[half - 1] + values[half]) / 2;
  return {median, values.front(), values.back(), static_cast<int>(values.size())};
}

// The spread of `figure` over the runs that have it.
template <typename Figure>
Spread spread_over(const std::vector<const ComparedRun*>& runs, Figure figure) {
  std::vector<double> values;
  for (const ComparedRun* run : runs) {
    if (const std::optional<double> value = figure(*run)) values.push_back(*value);
  }
  return spread_of(std::move(values));
}

std::optional<double> number(const std::optional<Seconds>& time) {
  return time ? std::optional(time->value) : std::nullopt;
}

std::vector<Spread> curve_of(const std::vector<const ComparedRun*>& runs, ProgressUnit unit) {
  size_t longest = 0;
  for (const ComparedRun* run : runs) longest = std::max(longest, run->curve.size());
  std::vector<Spread> out;
  for (size_t k = 0; k < longest; ++k) {
    out.push_back(spread_over(runs, [&](const ComparedRun& run) { return progress_at(run, k, unit); }));
  }
  return out;
}

ComparedGroup group_of(const std::vector<const ComparedRun*>& runs, ProgressUnit unit) {
  ComparedGroup out;
  out.policy = runs.front()->policy, out.agent = runs.front()->agent, out.device = runs.front()->device;
  for (const ComparedRun* run : runs) out.runs.push_back(run->id);
  using Run = const ComparedRun&;
  out.best = spread_over(runs, [](Run run) { return number(run.best); });
  out.speedup = spread_over(runs, [](Run run) { return run.speedup; });
  out.trials = spread_over(runs, [](Run run) { return std::optional<double>(run.trials); });
  out.spent = spread_over(runs, [](Run run) { return std::optional(run.spent.value); });
  out.tokens = spread_over(runs, [](Run run) { return std::optional(static_cast<double>(run.tokens)); });
  out.goal_trials =
      spread_over(runs, [](Run run) { return run.reached ? std::optional(run.reached->trials) : std::nullopt; });
  out.goal_seconds =
      spread_over(runs, [](Run run) { return run.reached ? std::optional(run.reached->spent.value) : std::nullopt; });
  out.curve = curve_of(runs, unit);
  return out;
}

// In the order of their first runs.
std::vector<ComparedGroup> groups_of(const std::vector<ComparedRun>& runs, ProgressUnit unit) {
  std::vector<std::vector<const ComparedRun*>> kinds;
  for (const ComparedRun& run : runs) {
    const auto same = [&](const auto& kind) {
      const ComparedRun& first = *kind.front();
      return first.policy == run.policy && first.agent == run.agent && first.device == run.device;
    };
    const auto kind = std::find_if(kinds.begin(), kinds.end(), same);
    if (kind == kinds.end())
      kinds.push_back({&run});
    else
      kind->push_back(&run);
  }
  std::vector<ComparedGroup> out;
  for (const auto& kind : kinds) out.push_back(group_of(kind, unit));
  return out;
}

ProgressUnit unit_of(const std::vector<ComparedRun>& runs) {
  const bool timed =
      std::all_of(runs.begin(), runs.end(), [](const ComparedRun& run) { return run.original.has_value(); });
  return timed ? ProgressUnit::kSpeedup : ProgressUnit::kSeconds;
}

void set_goal(RunComparison& out) {
  for (const ComparedRun& run : out.runs) {
    if (out.unit == ProgressUnit::kSpeedup && run.speedup && *run.speedup > 1) {
      out.goal = std::max(out.goal.value_or(0), *run.speedup * kGoal);
    } else if (out.unit == ProgressUnit::kSeconds && run.best) {
      out.goal = std::min(out.goal.value_or(run.best->value / kGoal), run.best->value / kGoal);
    }
  }
}

void set_reached(RunComparison& out) {
  if (!out.goal) return;
  for (ComparedRun& run : out.runs) {
    for (size_t k = 0; k < run.curve.size() && !run.reached; ++k) {
      const std::optional<double> now = progress_at(run, k, out.unit);
      const bool there = now && (out.unit == ProgressUnit::kSpeedup ? *now >= *out.goal : *now <= *out.goal);
      if (there) run.reached = Reached{static_cast<double>(k), run.curve[k].spent};
    }
  }
}

// Both runs have a best program.
bool is_better(const ComparedRun& a, const ComparedRun& b, ProgressUnit unit) {
  return unit == ProgressUnit::kSpeedup ? *a.speedup > *b.speedup : *a.best < *b.best;
}

std::optional<ComparedPrograms> programs_of(const std::vector<ComparedRun>& runs, ProgressUnit unit) {
  std::vector<const ComparedRun*> ranked;
  for (const ComparedRun& run : runs) {
    if (run.best) ranked.push_back(&run);
  }
  if (ranked.size() < 2) return std::nullopt;
  std::stable_sort(ranked.begin(), ranked.end(), [&](const auto* a, const auto* b) { return is_better(*a, *b, unit); });
  return ComparedPrograms{ranked[1]->id, ranked[0]->id, line_diff(ranked[1]->program, ranked[0]->program)};
}

Status check_runs(const std::vector<store::LoadedRun>& runs) {
  if (runs.size() < 2)
    return fail(Code::bad_argument, fmt::format("a comparison needs two runs or more; {} given", runs.size()));
  for (size_t i = 0; i < runs.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (runs[i].run.id == runs[j].run.id)
        return fail(Code::bad_argument, fmt::format("run {} is named twice", runs[i].run.id));
    }
  }
  return success();
}

}  // namespace

std::vector<const char*> enum_names(ProgressUnit) { return {"speedup", "seconds"}; }

// A run that ended earlier stays where it was.
std::optional<double> progress_at(const ComparedRun& run, size_t measurements, ProgressUnit unit) {
  if (run.curve.empty()) return std::nullopt;
  const std::optional<Seconds> best = run.curve[std::min(measurements, run.curve.size() - 1)].best;
  if (!best) return std::nullopt;
  return unit == ProgressUnit::kSpeedup ? *run.original / *best : best->value;
}

Result<RunComparison> compare_runs(const std::vector<store::LoadedRun>& runs, bool grouped) {
  SOLSTICE_CHECK(check_runs(runs));
  Seconds slowest;
  for (const store::LoadedRun& run : runs) slowest = std::max(slowest, slowest_trial(run));
  RunComparison out;
  for (const store::LoadedRun& loaded : runs) {
    SOLSTICE_TRY(ComparedRun run, compared_run(loaded, slowest));
    out.runs.push_back(std::move(run));
  }
  out.cautions = cautions_of(out.runs);
  out.unit = unit_of(out.runs);
  set_goal(out);
  set_reached(out);
  if (grouped) out.groups = groups_of(out.runs, out.unit);
  out.programs = programs_of(out.runs, out.unit);
  return out;
}

}  // namespace solstice::flow
