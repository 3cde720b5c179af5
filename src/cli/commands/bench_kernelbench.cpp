// solstice bench kernelbench: the main job on every problem of a KernelBench folder.
#include "flow/bench.h"

#include <fmt/format.h>

#include "base/interrupt.h"
#include "cli/command.h"
#include "cli/progress.h"
#include "cli/table.h"
#include "cli/values.h"

namespace solstice::cli {
namespace {

Result<flow::BenchOptions> bench_options(const Invocation& in) {
  flow::BenchOptions options;
  std::vector<int> levels;
  for (const std::string& level : split(in.get("--level"), ',')) {
    SOLSTICE_TRY(const int value, parse_int("--level", level, 1, 9));
    levels.push_back(value);
  }
  SOLSTICE_TRY(options.problems, flow::list_problems(in.get("--path"), levels, split(in.get("--only"), ',')));
  SOLSTICE_TRY(const BudgetText budget, parse_budget(in.get("--budget")));
  options.each.budget = budget.time;
  options.each.trials = budget.trials;
  options.each.device = in.get("--device");
  options.each.machine = in.get("--machine");
  options.each.allow_busy = in.flag("--allow-busy");
  options.each.numerics = in.get("--numerics");
  options.each.frozen = in.get("--weights") == "frozen";
  options.each.baselines = in.flag("--baselines");
  options.each.command = in.argv;
  options.each.several = true;
  options.out = in.get("--out");
  options.resume = in.flag("--resume");
  return options;
}

void print_row(const BenchRow& row) {
  const bool lost = row.failed && row.outcome == RunOutcome::kNone;
  const std::string outcome = lost ? "failed" : enum_names(row.outcome)[static_cast<size_t>(row.outcome)];
  fmt::print("{:<6} {:<44} {:<12} {:>8}  {}\n", row.id, clip(row.name, 44), outcome, row.speedup > 0 ? show_factor(row.speedup) : "",
             clip(row.reason, 80));
  std::fflush(stdout);
}

Result<int> run_bench_kernelbench(const Invocation& in) {
  SOLSTICE_TRY(const flow::BenchOptions options, bench_options(in));
  const bool json = in.json();
  SilentProgress silent;
  const std::unique_ptr<Progress> shown = in.flag("--verbose") ? progress_for(stderr) : nullptr;
  Progress& progress = shown ? *shown : static_cast<Progress&>(silent);
  flow::Engine engine;  // one Python, one compiler and one judge for all problems
  const flow::Optimize optimize = [&engine](const flow::OptimizeOptions& each, Progress& watching) {
    return flow::optimize(each, watching, engine);
  };
  SOLSTICE_TRY(const Bench bench, flow::run_bench(options, optimize, progress, [json](const BenchRow& row) {
                 if (!json) print_row(row);
               }));
  if (json) {
    fmt::print("{}\n", to_json(bench).dump(2));
  } else {
    const double mean = flow::geometric_mean(bench);  // 0 where nothing was measured
    fmt::print("\n{} of {} problems{}; {}\n", bench.rows.size(), options.problems.size(),
               mean > 0 ? fmt::format(", geometric mean {} over the supported ones", show_factor(mean)) : "",
               (options.out / "bench.md").string());
  }
  if (interrupted()) return fail(Code::interrupted, "stopped; `--resume` goes on from here");
  return 0;
}

}  // namespace

extern const Command solstice_commands_bench_kernelbench;
const Command solstice_commands_bench_kernelbench = {
    .name = "bench kernelbench",
    .summary = "Optimise every problem of a KernelBench folder and tabulate what came of it",
    .help =
        "DIR holds level1/1_NAME.py and so on. Each problem ends as `faster`, `not faster`, `unsupported: OPERATOR` or "
        "`failed`; its report and drop-in are below OUT. bench.json is rewritten after each problem, and --resume "
        "goes on from it, trying failed ones again; without it an OUT that holds one is refused.",
    .example = "solstice bench kernelbench --path KernelBench --level 1,2 --budget 15s --resume",
    .parameters = {{"--path", "DIR", "folder with level1/, level2/ ...", "", {}, true, false},
                   {"--level", "LIST", "levels, for example 1,2,3", "", {}, false, false},
                   {"--only", "LIST", "problems, for example 1/2,2/41", "", {}, false, false},
                   {"--budget", "BUDGET", "time and trials for each problem", "15s,40trials", {}, false, false},
                   {"--device", "NAME", "where candidates run", "auto", {"auto", "gpu", "model"}, false, false},
                   {"--machine", "NAME", "machine description; found from the device where it is not given", "", {}, false, false},
                   {"--allow-busy", "", "go on although other processes keep the GPU busy", "", {}, false, false},
                   {"--numerics", "POLICY", "how accurate", "reference", {"reference", "high", "medium"}, false, false},
                   {"--weights", "MODE", "whether parameters may be packed once", "live", {"live", "frozen"}, false, false},
                   {"--baselines", "", "also time torch.compile and TF32", "", {}, false, false},
                   {"--out", "DIR", "where outcomes go", "runs/kernelbench", {}, false, false},
                   {"--resume", "", "keep what OUT/bench.json holds and go on", "", {}, false, false},
                   {"--verbose", "", "show each problem's progress on stderr", "", {}, false, false},
                   json_flag()},
    .run = run_bench_kernelbench,
    .polls_interrupts = true,
};

}  // namespace solstice::cli
