// solstice replay: recorded searches decided again, offline.
#include <fmt/format.h>

#include "base/file.h"
#include "cli/command.h"
#include "cli/named_store.h"
#include "cli/values.h"
#include "cli/view/replay_chart.h"
#include "cli/view/table.h"
#include "flow/history/recorded_runs.h"
#include "search/replay/comparison.h"

namespace solstice::cli {
namespace {

using search::Judged;
using search::ReplayRule;

Status set_eps(const std::string& text, ReplayRule& rule) {
  SOLSTICE_TRY(rule.stop.eps, parse_eps(text));
  return success();
}
Status set_window(const std::string& text, ReplayRule& rule) {
  SOLSTICE_TRY(const int window, parse_window(text));
  if (window == 0)
    return fail(Code::bad_argument, "--window is 0, which stops no search", "leave it out, or name 1 or more trials");
  rule.stop.window = window;
  return success();
}
Status set_roi(const std::string& text, ReplayRule& rule) {
  SOLSTICE_TRY(rule.stop.roi, parse_roi(text));
  return success();
}
Status set_budget(const std::string& text, ReplayRule& rule) {
  SOLSTICE_TRY(const BudgetText budget, parse_budget(text));
  if (text.find("trial") != std::string::npos)
    rule.budget.trials = budget.trials;
  else
    rule.budget.seconds = budget.time.value;
  return success();
}

// Every rule there is, with each value of this option.
Status cross(const std::string& list, Status (*set)(const std::string&, ReplayRule&), std::vector<ReplayRule>& rules) {
  const std::vector<std::string> values = split(list, ',');
  if (values.empty()) return success();
  std::vector<ReplayRule> out;
  for (const ReplayRule& rule : rules) {
    for (const std::string& value : values) {
      out.push_back(rule);
      SOLSTICE_CHECK(set(value, out.back()));
    }
  }
  rules = std::move(out);
  return success();
}

Result<search::ComparisonOptions> comparison_options(const Invocation& in) {
  search::ComparisonOptions out;
  out.policies = in.all("--policy");
  out.schedules = in.all("--schedule");
  ReplayRule bare;
  SOLSTICE_TRY(bare.stop.least, parse_int("--least", in.get("--least"), 1, 1000000));
  out.rules = {bare};
  SOLSTICE_CHECK(cross(in.get("--eps"), set_eps, out.rules));
  SOLSTICE_CHECK(cross(in.get("--window"), set_window, out.rules));
  SOLSTICE_CHECK(cross(in.get("--roi"), set_roi, out.rules));
  SOLSTICE_CHECK(cross(in.get("--budget"), set_budget, out.rules));
  if (in.has("--budget")) {
    std::vector<ReplayRule> budgets = {ReplayRule{}};
    SOLSTICE_CHECK(cross(in.get("--budget"), set_budget, budgets));
    for (const ReplayRule& rule : budgets) out.budgets.push_back(rule.budget);
  }
  const std::string cost = in.get("--cost");
  out.currency = cost == "trials"   ? search::Currency::kTrials
                 : cost == "tokens" ? search::Currency::kTokens
                                    : search::Currency::kSeconds;
  if (in.has("--seed")) {
    SOLSTICE_TRY(const int seed, parse_int("--seed", in.get("--seed"), 0, 1000000000));
    out.seed = static_cast<uint64_t>(seed);
  }
  return out;
}

std::string percent(const std::optional<double>& share) { return share ? fmt::format("{:.1f} %", *share * 100) : "-"; }

std::string judged_table(const std::vector<Judged>& rows, const char* first, const char* second, bool front) {
  std::vector<std::vector<std::string>> cells = {{first, second, "speedup", "retention", "trials saved",
                                                  "seconds saved", "tokens saved", "gain", "over optimal", "regret",
                                                  "coverage", front ? "front" : ""}};
  for (const Judged& row : rows) {
    cells.push_back({row.policy, row.rule, show_factor(row.speedup), percent(row.retention), percent(row.saved_trials),
                     percent(row.saved_seconds), percent(row.saved_tokens), fmt::format("{:.2f}", row.gain),
                     percent(row.over), percent(row.regret), percent(row.coverage), row.front ? "*" : ""});
  }
  return table(cells);
}

std::string runs_table(const std::vector<search::Looked>& runs) {
  std::vector<std::vector<std::string>> cells = {
      {"run", "problem", "policy", "trials", "seconds", "original", "bound", "speedup", "optimal stop"}};
  const auto time = [](Seconds t) { return t.value > 0 ? show(t) : "-"; };
  for (const search::Looked& run : runs) {
    cells.push_back({run.id, clip(run.problem, 32), run.policy, fmt::format("{:.0f}", run.spent.trials),
                     fmt::format("{:.1f}", run.spent.seconds), time(run.original), time(run.bound),
                     show_factor(run.speedup), std::to_string(run.hindsight)});
  }
  return table(cells);
}

// After 0, 1, 2, 5, 10, 20, ... trials, and all.
std::string curves_table(const std::vector<search::Curve>& curves) {
  size_t longest = 0;
  for (const search::Curve& curve : curves) longest = std::max(longest, curve.speedup.size() - 1);
  std::vector<size_t> marks;
  for (size_t power = 1; power < longest; power *= 10) {
    for (const size_t times : {1, 2, 5}) {
      if (times * power < longest) marks.push_back(times * power);
    }
  }
  marks.push_back(longest);
  std::vector<std::vector<std::string>> cells = {{"best so far"}};
  for (const size_t mark : marks) cells[0].push_back(std::to_string(mark));
  for (const search::Curve& curve : curves) {
    cells.push_back({curve.policy});
    for (const size_t mark : marks)
      cells.back().push_back(show_factor(curve.speedup[std::min(mark, curve.speedup.size() - 1)]));
  }
  return table(cells);
}

void print(const search::Comparison& c) {
  const char* cost = enum_name(c.currency);
  fmt::print("{}\ncost in {}\n\n{}", runs_table(c.runs), cost, judged_table(c.stops, "policy", "stop", true));
  if (!c.schedules.empty()) fmt::print("\n{}", judged_table(c.schedules, "shared out by", "budget", false));
  fmt::print("\n{}", curves_table(c.curves));
  for (const std::string& note : c.notes) fmt::print("\nnote: {}\n", note);
}

Result<int> run_replay(const Invocation& in) {
  SOLSTICE_TRY(const search::ComparisonOptions options, comparison_options(in));
  if (in.has("RUN") && in.has("--problem"))
    return fail(Code::bad_argument, "runs are named one by one, or by --problem, not both");
  SOLSTICE_TRY(store::Store store, named_store(in));
  SOLSTICE_TRY(const flow::RecordedRuns runs, flow::recorded_runs(store, in.all("RUN"), in.get("--problem")));
  SOLSTICE_TRY(search::Comparison comparison, search::compare(runs.records, options));
  if (runs.without_search > 0)
    comparison.notes.push_back(fmt::format("{} finished runs keep no search; they are left out", runs.without_search));
  if (!options.policies.empty()) {
    comparison.notes.push_back(
        "a replayed policy chooses among recorded candidates alone; coverage is the share of its decisions that the "
        "record could answer");
  }
  if (in.json())
    fmt::print("{}\n", to_json(comparison).dump(2));
  else
    print(comparison);
  if (in.has("--svg")) SOLSTICE_CHECK(write_file(in.get("--svg"), replay_chart(comparison)));
  return 0;
}

}  // namespace

extern const Command solstice_commands_replay;
const Command solstice_commands_replay = {
    .name = "replay",
    .summary = "Replay recorded runs with other stop rules, policies or shared budgets",
    .help =
        "RUN is an id, a prefix of one, or `last`; without RUN, all finished runs of the store are replayed. "
        "Nothing is compiled or measured. Lists are separated by commas, and every combination of --eps, "
        "--window, --roi and --budget is one row, whose rules stop a search independently.\n"
        "Retention is the geometric mean over runs of the speedup at the stop over the final speedup; gain is "
        "retention times the cost of the full runs over the cost at the stop. The hindsight-optimal stop is the "
        "first point within 0.5 % of the final speedup: `over optimal` is the cost over that of these stops, "
        "`regret` the share of the cost spent after them. Rows marked * are on the Pareto front of cost and "
        "retention.\n"
        "--policy replays another policy: it may only choose among candidates that the run tried, and receives "
        "the recorded results. `coverage` is the share of its decisions that the record can answer; a node whose "
        "recorded children are used up has no answer. The replay shows how well a policy chooses among the "
        "recorded candidates, not the candidates it would have found.",
    .example = "solstice replay --eps 0.1,0.25,1 --window 4,8,12 --policy mcts --svg replay.svg",
    .parameters =
        {{"RUN", "", "runs to replay", "", {}, false, true},
         {"--problem", "NAME", "all finished runs of this problem", "", {}, false, false},
         {"--policy", "POLICY", "policy to replay, with its parameters; may be repeated", "", {}, false, true},
         {"--eps",
          "LIST",
          "stop when the best or the original takes at most (1 + eps) times the practical bound",
          "",
          {},
          false,
          false},
         {"--window",
          "LIST",
          "stop when the best beats the original and this many trials brought no gain beyond noise",
          "",
          {},
          false,
          false},
         {"--roi",
          "LIST",
          "stop when the expected log-gain of the next trial is below this (at most 1)",
          "",
          {},
          false,
          false},
         {"--budget",
          "LIST",
          "stop after 20trials, 60s or 2m; with --schedule: budget per problem",
          "",
          {},
          false,
          false},
         {"--least", "COUNT", "fewest trials before --eps, --window or --roi may stop a search", "1", {}, false, false},
         {"--schedule",
          "SCHEDULER",
          "share one budget among the runs: log-gain, with its parameters; may be repeated",
          "",
          {},
          false,
          true},
         {"--cost", "COST", "unit of cost", "seconds", {"trials", "seconds", "tokens"}, false, false},
         {"--seed", "SEED", "seed of the replayed policies [default: the recorded one]", "", {}, false, false},
         {"--svg",
          "FILE",
          "write a chart of saved cost against retention, and of the best so far",
          "",
          {},
          false,
          false},
         {"--store", "DIR", "run store [default: yours]", "", {}, false, false},
         json_flag()},
    .run = run_replay,
};

}  // namespace solstice::cli
