// Options of a bench.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "flow/bench/figures.h"
#include "flow/bench/problems.h"
#include "flow/run/state/options.h"
#include "search/turns.h"

namespace solstice::flow {

// One budget for all problems, whose searches then take turns.
struct SharedBudget {
  search::TotalBudget total;
  search::Schedule schedule;
  std::string total_text, schedule_text;  // as they were given
};

struct BenchOptions {
  std::vector<BenchProblem> problems;
  OptimizeOptions each;                // file, out, problem, numerics and the like are filled in
  std::vector<VariantName> variants;   // at least one; one with a shared budget
  std::optional<SharedBudget> shared;  // none: each problem has its own
  bool opponents = true;               // time PyTorch's other ways beside, and measure flaws
  bool opponents_of_all = true;        // also where nothing of ours runs
  Seconds deadline{120};               // for preparing one opponent
  std::filesystem::path out;           // bench.json, bench.md, bench.svg, and a folder for each problem
  bool resume = false;                 // rows of out/bench.json are kept; failed ones are tried again
};

}  // namespace solstice::flow
