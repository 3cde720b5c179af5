// Benefit of memory across problems: the trials that searches of the same problems took with it and without.
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
  bool predicted = false;                         // a best candidate of these runs was not measured
  static auto fields() {
    return std::make_tuple(field("problem", &Paired::problem, "name"),
                           field("target", &Paired::target, "speedup to reach"),
                           field("without", &Paired::without, "trials until then without memory"),
                           field("with", &Paired::with, "and with it"),
                           field("unreached_without", &Paired::unreached_without, "runs that did not reach it"),
                           field("unreached_with", &Paired::unreached_with, "the same, with memory"),
                           field("final_without", &Paired::final_without, "speedup in the end"),
                           field("final_with", &Paired::final_with, "the same, with memory"),
                           field("predicted", &Paired::predicted, "a best candidate of these runs was not measured"));
  }
};

struct Benefit {
  std::vector<Paired> problems;       // that both sides have, by name
  std::vector<std::string> left_out;  // that one side lacks
  double ratio = 1;                   // geometric mean of trials with memory over those without
  double p = 1;                       // one-sided Wilcoxon signed-rank test that memory takes no fewer
  static auto fields() {
    return std::make_tuple(field("problems", &Benefit::problems, "that both sides have"),
                           field("left_out", &Benefit::left_out, "problems that one side lacks"),
                           field("ratio", &Benefit::ratio, "geometric mean of trials with memory over those without"),
                           field("p", &Benefit::p, "that memory takes no fewer"));
  }
};

// Of which trial the best so far first has this speedup; nothing where none does.
std::optional<size_t> trials_to(const Sequence& sequence, double speedup);

// `share`: 0.95. Error bad_argument where no problem is on both sides.
Result<Benefit> benefit_of(const std::vector<Record>& without, const std::vector<Record>& with, double share);

}  // namespace solstice::search
