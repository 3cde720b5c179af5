// solstice memory benefit: the trials that memory or findings saved and what they gained, from the runs of two stores.
#include <fmt/format.h>

#include <iterator>

#include "cli/command.h"
#include "cli/values.h"
#include "cli/view/table.h"
#include "flow/history/recorded_runs.h"
#include "search/replay/benefit.h"

namespace solstice::cli {
namespace {

Result<std::vector<search::Record>> runs_in(const std::vector<std::string>& folders) {
  std::vector<search::Record> out;
  for (const std::string& folder : folders) {
    SOLSTICE_TRY(store::Store store, store::Store::open(folder));
    SOLSTICE_TRY(flow::RecordedRuns runs, flow::recorded_runs(store, {}, ""));
    std::move(runs.records.begin(), runs.records.end(), std::back_inserter(out));
  }
  return out;
}

std::string trials_text(double trials, int unreached) {
  return fmt::format("{}{:.3g}", unreached > 0 ? ">= " : "", trials);
}

void print_gain(const std::string& what, const search::EndGain& gain) {
  if (gain.problems == 0) return fmt::print("{}: there are none\n", what);
  fmt::print("{}: {:.3f} (p = {:.2g}, {} problem{})\n", what, gain.ratio, gain.p, gain.problems,
             gain.problems == 1 ? "" : "s");
}

void print_benefit(const search::Benefit& found, double share) {
  std::vector<std::vector<std::string>> rows = {
      {"problem", "target", "trials without", "with", "final without", "with"}};
  bool predicted = false;
  for (const search::Paired& p : found.problems) {
    predicted |= p.predicted;
    rows.push_back({clip(p.problem, 40), show_factor(p.target), trials_text(p.without, p.unreached_without),
                    trials_text(p.with, p.unreached_with), show_factor(p.final_without), show_factor(p.final_with)});
  }
  fmt::print(
      "{}\ntrials to {:.0f} % of the better final speedup, with over without: {:.2f} (p = {:.2g}, {} problems)\n",
      table(rows), 100 * share, found.ratio, found.p, found.problems.size());
  print_gain("final speedup, with over without", found.end);
  print_gain(fmt::format("the same of problems that end above {} times the practical bound without",
                         search::kFarFromPractical),
             found.far);
  if (predicted) fmt::print("{}", kPredictedNote);
  for (const std::string& problem : found.left_out) fmt::print("left out, since one arm lacks them: {}\n", problem);
}

Result<int> run_memory_benefit(const Invocation& in) {
  for (const char* side : {"--without", "--with"}) {
    if (!in.has(side)) return fail(Code::bad_argument, fmt::format("{} DIR is missing: a run store", side));
  }
  SOLSTICE_TRY(const double share, parse_real("--share", in.get("--share"), 0.01, 1));
  SOLSTICE_TRY(const std::vector<search::Record> without, runs_in(in.all("--without")));
  SOLSTICE_TRY(const std::vector<search::Record> with, runs_in(in.all("--with")));
  SOLSTICE_TRY(const search::Benefit found, search::benefit_of(without, with, share));
  if (in.json())
    fmt::print("{}\n", to_json(found).dump(2));
  else
    print_benefit(found, share);
  return 0;
}

}  // namespace

extern const Command solstice_commands_memory_benefit;
const Command solstice_commands_memory_benefit = {
    .name = "memory benefit",
    .summary = "Compare searches with and without memory of other problems, or findings",
    .help =
        "Each arm is a run store, or several. Problems are paired by name; a problem that one arm lacks is left "
        "out. The target of a problem is a share of the better final speedup of both arms. A run that does not "
        "reach the target counts as all its trials plus one (`>=`). p is the p-value of a one-sided Wilcoxon "
        "signed-rank test over the log-ratios of the problems. The geometric mean of final speedups, with over "
        "without, "
        "is printed for all problems and for those whose arm without ends far above the practical bound. Where the "
        "time "
        "of the original is not known, speedups are over the slowest trial of both arms. docs/search.md describes the "
        "procedure.",
    .example = "solstice memory benefit --without off --with on",
    .parameters = {{"--without",
                    "DIR",
                    "run store of searches with --memory off, or --findings off; may be repeated",
                    "",
                    {},
                    false,
                    true},
                   {"--with", "DIR", "run store of searches with it on; may be repeated", "", {}, false, true},
                   {"--share", "SHARE", "target, as a share of the final speedup", "0.95", {}, false, false},
                   json_flag()},
    .run = run_memory_benefit,
};

}  // namespace solstice::cli
