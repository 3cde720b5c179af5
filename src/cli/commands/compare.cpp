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
    return fail(Code::not_found, fmt::format("no finished run of `{}` in {}", problem, store.folder().string()),
                "`solstice show` lists them");
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
    .summary = "Compare runs side by side: times, trials, progress, and the diff of their best programs",
    .help =
        "RUN is an id, a prefix of one, or `last`; give two or more. Runs that differ in problem, options, "
        "machine or build are compared too; the output states each difference first.\n"
        "`speedup` is the original's time over the best trial's, as the search measured them; `of forward` is "
        "the end-to-end speedup of the report. `best after N` is the best candidate of the first N measurements, "
        "each by its final time, or the original if none was faster. `to X` is the cost of reaching 95 % of the "
        "best run's final speedup; `spent` sums the wall times of the trials, which may overlap. For a run that "
        "did not time the original, times replace speedups.\n"
        "--problem compares all finished runs of a problem, grouped by policy, language model and device: the "
        "median, and in brackets the lowest and the highest. The diff goes from the program of the second best "
        "run to that of the best.",
    .example = "solstice compare --problem mlp",
    .parameters = {{"RUN", "", "runs to compare", "", {}, false, true},
                   {"--problem", "NAME", "all finished runs of this problem, by policy", "", {}, false, false},
                   {"--store", "DIR", "run store [default: yours]", "", {}, false, false},
                   json_flag()},
    .run = run_compare,
};

}  // namespace solstice::cli
