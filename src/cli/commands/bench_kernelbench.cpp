// solstice bench kernelbench: the main job on every problem of a KernelBench folder.
#include "cli/bench.h"

#include "cli/values.h"

namespace solstice::cli {
namespace {

Result<int> run_bench_kernelbench(const Invocation& in) {
  if (in.has("--render")) return render_bench_again(in.get("--render"));
  std::vector<int> levels;
  for (const std::string& level : split(in.get("--level"), ',')) {
    SOLSTICE_TRY(const int value, parse_int("--level", level, 1, 9));
    levels.push_back(value);
  }
  if (!in.has("--path")) return fail(Code::bad_argument, "--path DIR is missing: the folder with level1/, level2/ ...");
  SOLSTICE_TRY(std::vector<flow::BenchProblem> problems,
               flow::list_problems(in.get("--path"), levels, split(in.get("--only"), ',')));
  return run_bench_of(in, std::move(problems));
}

}  // namespace

extern const Command solstice_commands_bench_kernelbench;
const Command solstice_commands_bench_kernelbench = {
    .name = "bench kernelbench",
    .summary = "Optimise every problem of a KernelBench folder and tabulate the outcomes",
    .help =
        "DIR holds level1/1_NAME.py and so on. Under each policy of --numerics a problem ends as `faster`, "
        "`original kept`, `unsupported: OPERATOR` or `failed`; its reports and drop-in modules are written below "
        "OUT. The baselines are PyTorch eager and torch.compile, each with and without TF32, timed in turn with "
        "the drop-in; flaws of the problem itself are measured too (docs/measuring.md). bench.json, bench.md and "
        "bench.svg are rewritten after each problem. --resume continues from them and retries failed problems; "
        "without it, an OUT that already holds a bench is refused. `solstice bench merge` combines several "
        "benches.",
    .example = "solstice bench kernelbench --path KernelBench --numerics reference,high --budget 15s --resume",
    .parameters = bench_parameters({{"--path", "DIR", "folder with level1/, level2/ ...", "", {}, false, false},
                                    {"--level", "LIST", "levels to run, for example 1,2,3", "", {}, false, false},
                                    {"--only", "LIST", "problems to run, for example 1/2,2/41", "", {}, false, false}},
                                   "runs/kernelbench"),
    .run = run_bench_kernelbench,
    .polls_interrupts = true,
};

}  // namespace solstice::cli
