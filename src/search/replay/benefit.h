// Benefit of memory across problems, or of findings: what searches of the same problems took, and came to, with it and
// without.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "search/replay/recorded.h"

namespace solstice::search {

struct Paired {
  std::string problem;
  double target = 1;   // speedup to reach: `share` of the better final one of both sides
  double without = 0;  // trials until it was reached, the mean of the runs of this problem
  double with = 0;     // a run that did not reach it counts all its trials and one more, so the figure is too low
  int unreached_without = 0, unreached_with = 0;  // of such runs
  double final_without = 1, final_with = 1;       // speedups, geometric means
  double over_practical = 0;                      // time in the end over the practical bound, without; 0: none is known
  bool predicted = false;                         // a best candidate of these runs was not measured
  static auto fields() {
    return std::make_tuple(field("problem", &Paired::problem, "name"),
                           field("target", &Paired::target, "speedup to reach"),
                           field("without", &Paired::without, "trials until then, of the arm without"),
                           field("with", &Paired::with, "and of the arm with"),
                           field("unreached_without", &Paired::unreached_without, "runs that did not reach it"),
                           field("unreached_with", &Paired::unreached_with, "the same, of the arm with"),
                           field("final_without", &Paired::final_without, "speedup in the end"),
                           field("final_with", &Paired::final_with, "the same, of the arm with"),
                           optional_field("over_practical", &Paired::over_practical,
                                          "time in the end over the practical bound, of the arm without"),
                           field("predicted", &Paired::predicted, "a best candidate of these runs was not measured"));
  }
};

// Speedups in the end, with over without.
struct EndGain {
  int problems = 0;
  double ratio = 1;  // geometric mean
  double p = 1;      // one-sided Wilcoxon signed-rank test that they are no higher with it
  static auto fields() {
    return std::make_tuple(field("problems", &EndGain::problems, "of which"),
                           field("ratio", &EndGain::ratio, "geometric mean of speedups with over without"),
                           field("p", &EndGain::p, "that they are no higher with it"));
  }
};

// Times the practical bound: beyond it there is something left to gain.
inline constexpr double kFarFromPractical = 1.15;

struct Benefit {
  std::vector<Paired> problems;       // that both sides have, by name
  std::vector<std::string> left_out;  // that one side lacks
  double ratio = 1;                   // geometric mean of trials with over those without
  double p = 1;                       // one-sided Wilcoxon signed-rank test that there are no fewer with it
  EndGain end;                        // of all
  EndGain far;                        // of those whose arm without ends above kFarFromPractical times the bound
  static auto fields() {
    return std::make_tuple(field("problems", &Benefit::problems, "that both sides have"),
                           field("left_out", &Benefit::left_out, "problems that one side lacks"),
                           field("ratio", &Benefit::ratio, "geometric mean of trials with over those without"),
                           field("p", &Benefit::p, "that there are no fewer with it"),
                           field("end", &Benefit::end, "speedups in the end"),
                           field("far", &Benefit::far, "of problems that end far above the practical bound"));
  }
};

// `share`: 0.95. Where a run does not know the original, speedups of its problem are over the slowest first trial of
// both arms. Error bad_argument where no problem is on both sides.
Result<Benefit> benefit_of(const std::vector<Record>& without, const std::vector<Record>& with, double share);

}  // namespace solstice::search
