// Policies compared on made-up landscapes at equal budget: how good the candidate is that each ends with. The table of
// `solstice bench policies`.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "record/fields.h"

namespace solstice::search {

struct TournamentOptions {
  std::vector<std::string> policies = {};    // as for make_policy(); empty: all built-in ones
  std::vector<std::string> landscapes = {};  // empty: all
  int runs = 200;                            // each landscape is drawn so often, for every policy the same
  double budget = 40;                        // of a run; a trial with a usual measurement costs 1 (tournament.cpp)
  int lookahead = 1;                         // trials in flight
  uint64_t seed = 1;
};

// One policy on one landscape.
struct Standings {
  std::string policy, landscape, kind;
  double mean =
      0;  // over runs: log2 of the true speedup of the candidate that measured fastest; 0 where none beat the problem
  double deviation = 0;
  double trials = 0;  // mean
  double against_random =
      0.5;       // share of runs, drawn by the same seed, in which it ends ahead of `random`; ties count half
  double p = 1;  // one-sided Wilcoxon signed-rank test that it is better than `random`

  static auto fields() {
    return std::make_tuple(
        field("policy", &Standings::policy, "with its parameters"), field("landscape", &Standings::landscape, "name"),
        field("kind", &Standings::kind, "of landscape"), field("mean", &Standings::mean, "log2 of the true speedup"),
        field("deviation", &Standings::deviation, "of it, over runs"), field("trials", &Standings::trials, "mean"),
        field("against_random", &Standings::against_random, "share of runs it ends ahead of random"),
        field("p", &Standings::p, "that it is no better than random, Wilcoxon, one-sided"));
  }
};

// By landscape, then policy. `random` always runs. Errors: bad_argument for what does not exist.
Result<std::vector<Standings>> tournament(const TournamentOptions& options);

// The one-sided p of the signed-rank test that differences are above 0 (ties share their ranks; exact up to 25 that are
// not 0, else the normal approximation; 1 where all are 0).
double signed_rank_p(std::vector<double> differences);

}  // namespace solstice::search
