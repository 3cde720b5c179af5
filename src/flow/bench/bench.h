// A bench: the main job on every problem of a KernelBench folder, one after the other, under one policy or several,
// beside the opponents. No problem can end it: an error becomes its row. What every further problem would meet as well
// (no GPU, a full disk) ends it with that error.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "flow/bench/figures.h"
#include "flow/bench/opponents.h"
#include "flow/run/optimize.h"
#include "record/bench.h"
#include "search/search.h"
#include "search/turns.h"

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

// Every file NAME.py of `folder` that has a `get_inputs`, by name; its first line, a docstring, is the problem's name.
// The same errors.
Result<std::vector<BenchProblem>> list_modules(const std::filesystem::path& folder,
                                               const std::vector<std::string>& only);

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

// A search that takes turns with others: Optimization (optimization.h) on the machine. What it holds there is free once
// it is destroyed; its run is brought to its end by BenchWorker::optimize().
class BenchSearch {
 public:
  virtual ~BenchSearch() = default;
  virtual bool ready() const = 0;
  virtual const std::string& run() const = 0;
  virtual const search::Tree& tree() const = 0;
  virtual Seconds original() const = 0;
  virtual Seconds bound() const = 0;
  virtual std::optional<search::Stop> step() = 0;
  virtual Result<OptimizeOutcome> conclude() = 0;  // of one that is not ready: why
};

// What a bench asks of the machine. begin() and end() bracket the requests of one problem, which may share what was
// prepared for it.
class BenchWorker {
 public:
  virtual ~BenchWorker() = default;
  virtual void begin(const OptimizeOptions& options) = 0;
  virtual Result<OptimizeOutcome> optimize(const OptimizeOptions& options, Progress& progress) = 0;
  virtual Result<std::unique_ptr<BenchSearch>> open(const OptimizeOptions& options, Progress& progress) = 0;
  virtual Result<OpponentsFound> compete(const OpponentsRequest& request, Progress& progress) = 0;
  virtual void end() = 0;
  // Whether what open searches share still works. Where it does not, each of them is closed, and renew() lets go of it:
  // the next one that is opened has another.
  virtual bool sound() const = 0;
  virtual void renew() = 0;
};
// One Python, one compiler and one judge for all problems; searches that take turns have a Python process each.
std::unique_ptr<BenchWorker> engine_worker();

// `after` is called with each row as it is done (also with those a resumed bench kept). Stops after the problem in hand
// on Ctrl-C. Errors: io_error, disk_full; bad_argument where `out` holds a bench and this is no resume, for a resume
// under other options or on another GPU, driver or PyTorch (known after the first new row, which is then not kept), and
// where another bench writes to `out`; what ends a bench. Rows of several builds of Solstice may stand together: each
// says its own, and so does the table's head.
Result<Bench> run_bench(const BenchOptions& options, BenchWorker& worker, Progress& progress,
                        const std::function<void(const BenchRow&)>& after);

// One bench of several: where two have a problem, the row that was finished last stands. Rows by level and number.
// Error bad_argument where they were made under other options, of other files of one number, or on another GPU, driver
// or PyTorch: it names both benches and what differs.
struct NamedBench {
  std::string name;
  Bench bench;
};
Result<Bench> merge_benches(std::vector<NamedBench> benches);

Result<Bench> load_bench(const std::filesystem::path& folder);  // folder/bench.json. Errors: not_found, bad_record
// bench.json, bench.md and, where anything was measured, bench.svg.
Status write_bench(const Bench& bench, const std::filesystem::path& folder);
Status write_rendered(const Bench& bench, const std::filesystem::path& folder);  // the latter two

std::string render_bench(const Bench& bench);  // bench.md
std::string render_chart(const Bench& bench);  // bench.svg; "" where nothing was measured

}  // namespace solstice::flow
