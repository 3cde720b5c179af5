// solstice bench policies: how well each search policy does on made-up problems.
#include <fmt/format.h>

#include "base/file.h"
#include "cli/command.h"
#include "cli/values.h"
#include "cli/view/table.h"
#include "search/landscape.h"
#include "search/policy.h"
#include "search/tournament.h"

namespace solstice::cli {
namespace {

Result<search::TournamentOptions> options_of(const Invocation& in) {
  search::TournamentOptions options;
  options.policies = in.all("--policy");
  options.landscapes = in.all("--landscape");
  SOLSTICE_TRY(options.runs, parse_int("--runs", in.get("--runs"), 1, 100000));
  SOLSTICE_TRY(const int budget, parse_int("--trials", in.get("--trials"), 1, 10000));
  options.budget = budget;
  SOLSTICE_TRY(options.lookahead, parse_int("--lookahead", in.get("--lookahead"), 1, 1000));
  SOLSTICE_TRY(const int seed, parse_int("--seed", in.get("--seed"), 0, 1000000000));
  options.seed = static_cast<uint64_t>(seed);
  return options;
}

std::string standings_table(const std::vector<search::Standings>& rows) {
  std::vector<std::vector<std::string>> cells = {
      {"landscape", "kind", "policy", "log2 speedup", "deviation", "ahead of random", "p", "trials"}};
  for (const search::Standings& row : rows) {
    cells.push_back({row.landscape, row.kind, row.policy, fmt::format("{:.3f}", row.mean),
                     fmt::format("{:.3f}", row.deviation), fmt::format("{:.3f}", row.against_random),
                     fmt::format("{:.2g}", row.p), fmt::format("{:.1f}", row.trials)});
  }
  return table(cells);
}

Result<int> run_bench_policies(const Invocation& in) {
  SOLSTICE_TRY(const search::TournamentOptions options, options_of(in));
  SOLSTICE_TRY(const std::vector<search::Standings> rows, search::tournament(options));
  Json list = Json::array();
  for (const search::Standings& row : rows) list.push(solstice::to_json(row));
  if (in.json())
    fmt::print("{}\n", list.dump(2));
  else
    fmt::print("{}", standings_table(rows));
  return 0;
}

}  // namespace

extern const Command solstice_commands_bench_policies;
const Command solstice_commands_bench_policies = {
    .name = "bench policies",
    .summary = "Compare search policies on synthetic problems, at equal budget",
    .help =
        "A landscape is a synthetic objective function. Each one is drawn --runs times, and every policy "
        "searches the same drawings with a budget of --trials trials (a rough measurement makes a trial cheaper, "
        "a repeated one needs no compilation). The figure is the true speedup of the candidate that measured "
        "fastest, as log2, averaged over the runs; p is the p-value of a one-sided Wilcoxon test against "
        "`random`. Needs no GPU; the same seed gives the same table.",
    .example = "solstice bench policies --policy mcts --policy 'mcts(best=0.5)' --landscape plateau --runs 50",
    .parameters = {{"--policy",
                    "POLICY",
                    "policy with its parameters; may be repeated [default: all built-in ones]",
                    "",
                    {},
                    false,
                    true},
                   {"--landscape", "NAME", "landscape; may be repeated [default: all]", "", {}, false, true},
                   {"--runs", "COUNT", "runs of each landscape", "200", {}, false, false},
                   {"--trials", "COUNT", "trials of a run", "40", {}, false, false},
                   {"--lookahead", "COUNT", "trials in flight", "1", {}, false, false},
                   {"--seed", "SEED", "seed of the drawings and of the policies", "1", {}, false, false},
                   json_flag()},
    .run = run_bench_policies,
};

}  // namespace solstice::cli
