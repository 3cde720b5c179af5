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
    .summary = "Optimise every problem of a KernelBench folder and tabulate what came of it",
    .help =
        "DIR holds level1/1_NAME.py and so on. Each problem ends as `faster`, `original kept`, `unsupported: OPERATOR` "
        "or "
        "`failed`, under each policy of --numerics; its reports and drop-ins are below OUT. PyTorch eager with and "
        "without "
        "TF32 and torch.compile with and without it are timed beside the drop-ins, and flaws of the problem are "
        "measured "
        "(docs/measuring.md). bench.json, bench.md and bench.svg are rewritten after each problem, and --resume goes "
        "on from "
        "them, trying failed ones again; without it an OUT that holds a bench is refused. `solstice bench merge` makes "
        "one "
        "bench of several.",
    .example = "solstice bench kernelbench --path KernelBench --numerics reference,high --budget 15s --resume",
    .parameters = bench_parameters({{"--path", "DIR", "folder with level1/, level2/ ...", "", {}, false, false},
                                    {"--level", "LIST", "levels, for example 1,2,3", "", {}, false, false},
                                    {"--only", "LIST", "problems, for example 1/2,2/41", "", {}, false, false}},
                                   "runs/kernelbench"),
    .run = run_bench_kernelbench,
    .polls_interrupts = true,
};

}  // namespace solstice::cli
