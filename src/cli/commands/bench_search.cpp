// solstice bench search: policies on real problems.
#include <fmt/format.h>

#include "base/process/interrupt.h"
#include "cli/command.h"
#include "cli/devices.h"
#include "cli/progress.h"
#include "cli/values.h"
#include "cli/view/search_bench_text.h"
#include "flow/bench/search_bench.h"
#include "search/make_policy.h"
#include "search/policy.h"

namespace solstice::cli {
namespace {

Result<flow::SearchBenchOptions> search_bench_options(const Invocation& in) {
  flow::SearchBenchOptions out;
  if (!in.has("--path")) return fail(Code::bad_argument, "--path DIR is missing: the folder with level1/, level2/ ...");
  SOLSTICE_TRY(out.problems, flow::list_problems(in.get("--path"), {}, split(in.get("--only"), ',')));
  out.policies = in.all("--policy");
  if (out.policies.empty()) out.policies = {"greedy", "mcts", "epsilon-greedy"};
  for (const std::string& policy : out.policies) SOLSTICE_CHECK(search::make_policy(policy, 1));
  SOLSTICE_TRY(out.seeds, parse_int("--seeds", in.get("--seeds"), 1, 1000));
  SOLSTICE_TRY(const BudgetText budget, parse_budget(in.get("--budget")));
  out.each.search.budget = budget.time;
  out.each.search.trials = budget.trials;
  SOLSTICE_TRY(out.each.search.eps, parse_eps(in.get("--eps")));
  SOLSTICE_TRY(out.each.search.window, parse_window(in.get("--window")));
  out.each.place.device = in.get("--device");
  out.each.place.machine = in.get("--machine");
  SOLSTICE_TRY(out.each.place.gpus, chosen_devices(in));
  out.each.place.allow_busy = in.flag("--allow-busy");
  out.each.terms.numerics = in.get("--numerics");
  out.each.several = true;
  out.each.command = in.argv;
  out.each.search.findings = in.get("--findings") == "on";
  out.memory = in.get("--memory");
  out.out = in.get("--out");
  out.resume = in.flag("--resume");
  return out;
}

void print_search(const SearchRow& row) {
  fmt::print("{}", search_row_text(row));
  std::fflush(stdout);
}

Result<int> run_bench_search(const Invocation& in) {
  SOLSTICE_TRY(const flow::SearchBenchOptions options, search_bench_options(in));
  SilentProgress silent;
  const std::unique_ptr<Progress> shown = in.flag("--verbose") ? progress_for(stderr) : nullptr;
  SOLSTICE_TRY(const SearchBench bench, flow::run_search_bench(options, shown ? *shown : static_cast<Progress&>(silent),
                                                               [&](const SearchRow& row) {
                                                                 if (!in.json()) print_search(row);
                                                               }));
  if (in.json())
    fmt::print("{}\n", to_json(bench).dump(2));
  else
    fmt::print("\n{}", standings_text(bench));
  if (interrupted()) return fail(Code::interrupted, "stopped; `--resume` continues from here");
  return 0;
}

}  // namespace

extern const Command solstice_commands_bench_search;
const Command solstice_commands_bench_search = {
    .name = "bench search",
    .summary = "Compare search policies on real problems, at equal budget",
    .help =
        "Every policy searches each problem of the KernelBench folder DIR from scratch; no search sees the "
        "candidates of another. Only the search runs: there is no full verification and no drop-in module, and a "
        "problem is prepared once for all its searches.\n"
        "The table shows, per policy: the geometric mean over problems of the final speedup, and of the speedup "
        "averaged over all trials (a search that ends early keeps its best); the ratio to the first policy; the "
        "time of a trial; and the share of the search time in which the GPU verifies and times (GPU busy). `p no "
        "better` and `p no worse` are p-values of one-sided Wilcoxon signed-rank tests over problems; the null "
        "hypotheses are that the policy's final speedup is no better, or no worse, than the first policy's. "
        "Without a GPU times are predicted, and the table says so.\n"
        "OUT/search.json is rewritten after each search, and --resume continues from it. OUT/store holds every "
        "run, for `solstice replay`, `show` and `memory benefit`. With --memory every search uses the facts of a "
        "copy of that store; without it, none uses any.",
    .example =
        "solstice bench search --path KernelBench --only 1/40,2/75 --policy greedy --policy mcts --budget "
        "120s,40trials",
    .parameters =
        {{"--path", "DIR", "folder with level1/, level2/ ...", "", {}, false, false},
         {"--only", "LIST", "problems to run, for example 1/2,2/41", "", {}, false, false},
         {"--policy",
          "POLICY",
          "policy with its parameters; may be repeated [default: greedy, mcts, epsilon-greedy]",
          "",
          {},
          false,
          true},
         {"--seeds", "COUNT", "searches per policy, with seeds 1, 2, ...", "1", {}, false, false},
         {"--budget", "BUDGET", "time and trials per search", "300s,40trials", {}, false, false},
         {"--eps", "SHARE", "stop a search within this share of the practical bound; 0: never", "0", {}, false, false},
         {"--window", "COUNT", "stop a search after this many trials without a gain; 0: never", "0", {}, false, false},
         device_option(),
         machine_option(),
         devices_option(),
         {"--allow-busy", "", "measure even if other processes keep the GPU busy", "", {}, false, false},
         {"--numerics", "POLICY", "accuracy policy", "reference", {"reference", "high", "medium"}, false, false},
         {"--memory", "STORE", "run store whose facts order the moves of each search", "", {}, false, false},
         {"--findings", "WHICH", "try first what findings of a candidate advise", "on", {"on", "off"}, false, false},
         {"--out", "DIR", "output folder", "runs/search", {}, false, false},
         {"--resume", "", "keep the finished searches of OUT/search.json and run the rest", "", {}, false, false},
         {"--verbose", "", "show the progress of each search on stderr", "", {}, false, false},
         json_flag()},
    .run = run_bench_search,
    .polls_interrupts = true,
};

}  // namespace solstice::cli
