// solstice compare: runs of the store side by side.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "cli/command.h"
#include "cli/named_store.h"
#include "cli/view/compare_text.h"

namespace solstice::cli {
namespace {

Result<std::vector<store::LoadedRun>> named_runs(store::Store& store, const std::vector<std::string>& names) {
  std::vector<store::LoadedRun> out;
  for (const std::string& name : names) {
    SOLSTICE_TRY(store::LoadedRun loaded, store.load_run(name));
    out.push_back(std::move(loaded));
  }
  return out;
}

// The oldest first.
Result<std::vector<store::LoadedRun>> finished_runs(store::Store& store, const std::string& problem) {
  SOLSTICE_TRY(const std::vector<store::ListedRun> listed, store.list(std::numeric_limits<int>::max()));
  std::vector<std::string> ids;
  for (const store::ListedRun& one : listed) {
    if (!one.run.ok()) return one.run.error();
    if (one.run->state == RunState::kFinished && one.run->problem == problem) ids.push_back(one.id);
  }
  if (ids.empty())
    return fail(Code::not_found, fmt::format("no finished run of `{}` in {}; `solstice show` lists them", problem,
                                             store.folder().string()));
  std::reverse(ids.begin(), ids.end());
  return named_runs(store, ids);
}

Result<int> run_compare(const Invocation& in) {
  if (in.has("RUN") == in.has("--problem"))
    return fail(Code::bad_argument, "runs are named one by one, or by --problem");
  SOLSTICE_TRY(store::Store store, named_store(in));
  SOLSTICE_CHECK(store.close_abandoned());
  const bool grouped = in.has("--problem");
  SOLSTICE_TRY(const auto runs, grouped ? finished_runs(store, in.get("--problem")) : named_runs(store, in.all("RUN")));
  SOLSTICE_TRY(const flow::RunComparison comparison, flow::compare_runs(runs, grouped));
  fmt::print("{}", in.json() ? solstice::to_json(comparison).dump(2) + "\n" : comparison_text(comparison));
  return 0;
}

}  // namespace

extern const Command solstice_commands_compare;
const Command solstice_commands_compare = {
    .name = "compare",
    .summary = "Set runs side by side: times, trials, progress, and what their best programs differ in",
    .help =
        "RUN is an id, the start of one, or `last`; two or more. Runs of other problems, options, machines or builds "
        "are compared all the "
        "same, and each such difference is said first.\n"
        "`speedup` is the original's time over the best trial's, as the search took them; `of forward` is the report's "
        "headline. `best after "
        "N` is what was found in N measurements, each candidate by its time in the end, and the original where nothing "
        "was faster. `to X` is "
        "what it took to come within 95 % of the best run's final speedup; `spent` counts the trials' own wall time, "
        "which may overlap. Where "
        "a run did not time the original, times take the place of speedups.\n"
        "--problem takes all finished runs of a problem, by policy, language model and device: the median, and in "
        "brackets the lowest and the highest. The "
        "diff leads from the second best run's program to the best one's.",
    .example = "solstice compare --problem mlp",
    .parameters = {{"RUN", "", "which runs", "", {}, false, true},
                   {"--problem", "NAME", "all finished runs of this problem, by policy", "", {}, false, false},
                   {"--store", "DIR", "another store than the user's", "", {}, false, false},
                   json_flag()},
    .run = run_compare,
};

}  // namespace solstice::cli
