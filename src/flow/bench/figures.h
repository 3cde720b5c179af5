// Figures of a bench: geometric means, fast_p and SOL scores, over all problems or a part of them.
//
// Solstice delivers the drop-in of a problem if that is faster, else the original: 1x. The speedup against an opponent
// is the opponent's time over the delivered one's, both of the same contest.
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

// The SOL score of SOL-ExecBench (arXiv 2603.19173; `sol_score` in its repository): 1 / (1 + (T_k - T_SOL) / (T_b -
// T_SOL)), so that 0.5 is the baseline's time T_b, here the original's, and 1 the speed of light T_SOL: the larger of
// the io and the work bound (docs/sol.md). None where the original is no slower than that; there the source gives 1 or
// 0.
std::optional<double> sol_score(Seconds original, Seconds time, Seconds bound);
std::optional<double> sol_score(const BenchVariant& variant);  // of what is delivered; none without a bound

double delivered(const BenchVariant& variant);  // over the original, by the headline: 1 where it stays
// Over an opponent, side by side; none where the opponent, eager or the drop-in was not timed there.
std::optional<double> delivered_over(const BenchRow& row, const BenchVariant& variant, const std::string& opponent);

// A candidate slower than this is no replacement: the original is kept.
constexpr double kKept = 0.97;

// The rows to sum up.
struct Part {
  VariantName variant;
  int level = 0;              // 0: all
  bool flawed = true;         // those that are flawed by measurement too
  std::string opponent = {};  // "": the original, by the headline
};

// Problems of a part, by what came of them.
struct OutcomeCounts {
  int problems = 0, faster = 0, not_faster = 0, predicted = 0, unsupported = 0, failed = 0;
};

// Ratios of times, over the original or an opponent. Without any they are 0.
struct Ratios {
  int count = 0;
  double mean = 0;  // geometric
  double least = 0;
};

struct Scores {
  int count = 0;
  double mean = 0;
};

struct Figures {
  OutcomeCounts outcomes;
  Ratios supported;               // of what is delivered, over the supported problems that have a ratio
  Ratios faster;                  // of those that are faster than the opponent
  Ratios complete;                // headlines of candidates on generated kernels alone, at least kKept of the original
  Ratios slower;                  // such headlines below kKept: the original is kept
  double fast_1 = 0, fast_2 = 0;  // shares of all problems that are correct and more than 1x, 2x
  Scores sol;                     // SOL scores
  Seconds trial;                  // median over the problems that run: a trial and the full verification
};
Figures figures_of(const Bench& bench, const Part& part);

int level_of(const BenchRow& row);
std::vector<int> levels_of(const Bench& bench);
bool flaws_measured(const Bench& bench);  // of any problem

}  // namespace solstice::flow
