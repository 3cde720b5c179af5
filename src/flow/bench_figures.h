// What a bench comes to in figures: geometric means, fast_p and SOL scores, over all problems or a part of them.
//
// What Solstice delivers for a problem is its drop-in where that is faster, else the original: 1x. Against an opponent
// that is the opponent's time over the delivered one's, both of the same contest.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "record/bench.h"

namespace solstice::flow {

// A policy, with rewrites or without: one column of the bench.
struct VariantName {
  std::string numerics, rewrites;
  bool operator==(const VariantName&) const = default;
  std::string text() const;  // "reference", "high, rewrites off"
};
std::vector<VariantName> variants_of(const Bench& bench);  // in the order of the first row that has each
const BenchVariant* find_variant(const BenchRow& row, const VariantName& name);

std::vector<std::string> opponents_of(const Bench& bench);  // names
const BenchSide* find_opponent(const BenchRow& row, const std::string& name);

// 0.5 is the original's own time, 1 the bound: (original - bound) / ((original - bound) + (time - bound)), the gap that is
// closed, as SOL-ExecBench scores (arXiv 2603.19173), with the practical bound of docs/sol.md. None where the original is no
// slower than the bound.
std::optional<double> sol_score(Seconds original, Seconds time, Seconds bound);
std::optional<double> sol_score(const BenchVariant& variant);  // of what is delivered; none without a bound

double delivered(const BenchVariant& variant);  // over the original, by the headline: 1 where it stays
// Over an opponent, side by side; none where the opponent, eager or the drop-in was not timed there.
std::optional<double> delivered_over(const BenchRow& row, const BenchVariant& variant, const std::string& opponent);

// Which rows to sum up.
struct Part {
  VariantName variant;
  int level = 0;              // 0: all
  bool flawed = true;         // those that are flawed by measurement too
  std::string opponent = {};  // "": the original, by the headline
};

struct Figures {
  int problems = 0, faster = 0, not_faster = 0, unsupported = 0, failed = 0;
  int compared = 0;                            // supported ones with a ratio
  double supported = 0;                        // geometric mean over those; 0: there is none, as below
  int complete = 0;                            // headlines of candidates that run on generated kernels alone
  double of_complete = 0, least_complete = 0;  // their mean and their least, slower ones included
  double of_faster = 0;                        // over those that are faster than the opponent
  double fast_1 = 0, fast_2 = 0;               // shares of all problems that are correct and more than 1x, 2x
  int scored = 0;
  double sol = 0;  // mean SOL score
};
Figures figures_of(const Bench& bench, const Part& part);

int level_of(const BenchRow& row);
std::vector<int> levels_of(const Bench& bench);
bool flaws_measured(const Bench& bench);  // of any problem

}  // namespace solstice::flow
