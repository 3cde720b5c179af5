// A bench of searches: real problems, each searched under several policies at equal budget. Nothing but the search
// runs: no full verification, no drop-in. Every search starts from nothing, or from the facts of one given store; none
// sees another's.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "flow/bench/bench_options.h"
#include "record/progress.h"
#include "record/search_bench.h"

namespace solstice::flow {

struct SearchBenchOptions {
  std::vector<BenchProblem> problems;
  OptimizeOptions each;               // file, out, store, policy and the like are filled in
  std::vector<std::string> policies;  // at least one
  int seeds = 1;                      // of each policy: 1, 2, ...
  std::filesystem::path memory;       // a store whose facts order each search; "": memory is off
  std::filesystem::path out;  // search.json, and store/ with all runs, for `solstice replay` and `memory benefit`
  bool resume = false;        // rows of out/search.json are kept; failed ones are tried again
};

// Like run_bench(): a problem that fails is a row; errors end the bench.
Result<SearchBench> run_search_bench(const SearchBenchOptions& options, Progress& progress,
                                     const std::function<void(const SearchRow&)>& after);

// One policy beside the first over all problems: geometric means over seeds and problems.
struct PolicyStanding {
  std::string policy;
  int problems = 0;  // on which this one and the first both found something
  bool timed =
      false;  // the originals of all these: else `speedup` and `early` are over other times, and nothing to show
  double speedup = 1;    // in the end, over the original
  double early = 1;      // the mean over trials of the best so far, over the original
  double ratio = 1;      // time of the first policy's candidate over this one's, in the end
  double p = 1;          // one-sided Wilcoxon signed-rank test over problems that it is no better in the end
  double p_worse = 1;    // and that it is no worse
  double measuring = 0;  // share of the searches' time on the GPU's side; 0: not measured
  Seconds a_trial;
};

// By policy in the bench's order. Problems whose original was not timed count over the slowest of the
// searches' first candidates.
std::vector<PolicyStanding> standings_of(const SearchBench& bench);

}  // namespace solstice::flow
