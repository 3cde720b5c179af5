// Runs side by side: their figures, what stands against comparing them, and what their best programs differ in. What
// `solstice compare` prints.
#pragma once

#include <string>
#include <vector>

#include "flow/history/compared_run.h"

namespace solstice::flow {

// Spread of a figure that some runs have.
struct Spread {
  double median = 0, low = 0, high = 0;
  int runs = 0;  // that have one

  static auto fields() {
    return std::make_tuple(field("median", &Spread::median, "of these runs"), field("low", &Spread::low, "lowest"),
                           field("high", &Spread::high, "highest"),
                           field("runs", &Spread::runs, "that have the figure"));
  }
};

// Runs of one policy, with one language model or none, on one device.
struct ComparedGroup {
  std::string policy, agent, device;
  std::vector<std::string> runs;                // ids
  Spread best, speedup, trials, spent, tokens;  // times in seconds
  Spread goal_trials, goal_seconds;             // of the runs that reached it
  std::vector<Spread>
      curve;  // best so far after 0, 1, 2, ... measurements: RunComparison::unit; a run that has ended stays

  static auto fields() {
    using T = ComparedGroup;
    return std::make_tuple(field("policy", &T::policy, "with parameters"),
                           field("agent", &T::agent, "language model that took part, and how"),
                           field("device", &T::device, "the GPU's name, or model"), field("runs", &T::runs, "ids"),
                           field("best", &T::best, "seconds"), field("speedup", &T::speedup, "original over best"),
                           field("trials", &T::trials, "of each run"),
                           field("spent", &T::spent, "seconds of the trials"),
                           field("tokens", &T::tokens, "of all proposals"),
                           field("goal_trials", &T::goal_trials, "measurements to the goal"),
                           field("goal_seconds", &T::goal_seconds, "of these measurements"),
                           field("curve", &T::curve, "best so far after 0, 1, 2, ... measurements, in `unit`"));
  }
};

// Two best programs, the slower one first.
struct ComparedPrograms {
  std::string before, after;  // ids of their runs
  std::string diff;           // as of line_diff(); "": they are equal

  static auto fields() {
    return std::make_tuple(field("before", &ComparedPrograms::before, "run"),
                           field("after", &ComparedPrograms::after, "run"),
                           field("diff", &ComparedPrograms::diff, "unified; empty where they are equal"));
  }
};

inline constexpr double kGoal = 0.95;  // of the best run's final speedup, or of its speed

// Unit of progress: speedups, or seconds if a run did not time the original.
enum class ProgressUnit { kSpeedup, kSeconds };
std::vector<const char*> enum_names(ProgressUnit);

struct RunComparison {
  static constexpr const char* kSchema = "solstice.compare/1";
  std::vector<std::string> cautions;  // reasons against comparing the runs
  ProgressUnit unit = ProgressUnit::kSpeedup;
  std::optional<double> goal;  // in `unit`; absent where no run is faster than the original, or has any result
  std::vector<ComparedRun> runs;
  std::vector<ComparedGroup> groups;         // if asked for
  std::optional<ComparedPrograms> programs;  // the two best; absent where fewer than two runs have one

  static auto fields() {
    using T = RunComparison;
    return std::make_tuple(
        field("cautions", &T::cautions, "what stands against comparing the runs"),
        field("unit", &T::unit, "of progress: speedup, or seconds where a run did not time the original"),
        field("goal", &T::goal, "0.95 of the best run's final speedup, or its time / 0.95"),
        field("runs", &T::runs, "side by side"), field("groups", &T::groups, "by policy, language model and device"),
        field("programs", &T::programs, "what the two best programs differ in"));
  }
};

// The best so far, in `unit`; of a run of this comparison.
std::optional<double> progress_at(const ComparedRun& run, size_t measurements, ProgressUnit unit);

// `grouped`: also by policy. Errors: bad_argument where there are fewer than two runs, one is there twice, or events do
// not fit.
Result<RunComparison> compare_runs(const std::vector<store::LoadedRun>& runs, bool grouped);

// Differences between the runs other than their policies and seeds, as sentences.
std::vector<std::string> cautions_of(const std::vector<ComparedRun>& runs);

}  // namespace solstice::flow
