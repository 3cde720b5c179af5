// A bench: the main job on every problem of a KernelBench folder, one after the other. No problem can end it: an error
// becomes its row. What every further problem would meet as well (no GPU, a full disk) ends it with that error.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "flow/optimize.h"
#include "record/bench.h"

namespace solstice::flow {

struct BenchProblem {
  std::string id;    // "1/2"
  std::string name;  // "Standard_matrix_multiplication"
  std::filesystem::path file;
};

// The files levelL/N_NAME.py below `folder`, by level and number. `levels` and `only` ("1/2") narrow the choice; empty:
// all. Errors: not_found (no such folder, no problem in it, or an id of `only` that is not there); io_error (a level's
// folder that cannot be read).
Result<std::vector<BenchProblem>> list_problems(const std::filesystem::path& folder, const std::vector<int>& levels,
                                                const std::vector<std::string>& only);

struct BenchOptions {
  std::vector<BenchProblem> problems;
  OptimizeOptions each;       // file, out and problem are filled in
  std::filesystem::path out;  // bench.json, bench.md, and a folder for each problem
  bool resume = false;        // rows of out/bench.json are kept; failed ones are tried again
};

using Optimize = std::function<Result<OptimizeOutcome>(const OptimizeOptions&, Progress&)>;

// `after` is called with each row as it is done (also with those a resumed bench kept). Stops after the problem in hand
// on Ctrl-C. Errors: io_error, disk_full; bad_argument where `out` holds a bench and this is no resume, for a resume under
// other options or on another GPU, driver or PyTorch (known after the first new row, which is then not kept), and where another bench
// writes to `out`; what ends a bench. Rows of several builds of Solstice may stand together: each says its own, and so does the table's
// head.
Result<Bench> run_bench(const BenchOptions& options, const Optimize& optimize, Progress& progress,
                        const std::function<void(const BenchRow&)>& after);

// Geometric mean of the speedups; a problem that did not get faster counts 1. 0 where nothing was measured.
double geometric_mean(const Bench& bench);
std::string render_bench(const Bench& bench);  // bench.md

}  // namespace solstice::flow
