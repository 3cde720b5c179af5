// solstice import-run: a run of another store.
#include <fmt/format.h>

#include "cli/command.h"
#include "flow/history/recorded_runs.h"
#include "flow/run/state/stored_runs.h"
#include "store/exported.h"

namespace solstice::cli {
namespace {

Result<int> run_import_run(const Invocation& in) {
  SOLSTICE_TRY(const store::LoadedRun loaded, store::read_exported(in.get("PATH")));
  // Events that do not fit each other would be found by whoever shows the run.
  if (!loaded.events.empty()) SOLSTICE_CHECK(flow::search_of(loaded).context(in.get("PATH")));
  SOLSTICE_TRY(store::Store store, flow::store_of(in.get("--store")));
  SOLSTICE_TRY(const bool added, store.add_run(loaded));
  if (in.json()) {
    fmt::print("{}\n", Json::object().set("run", loaded.run.id).set("added", added).dump(2));
  } else if (added) {
    fmt::print("run {}: {} trials and {} events taken in\n", loaded.run.id, loaded.trials.size(), loaded.events.size());
  } else {
    fmt::print("run {} is here already, with the same content\n", loaded.run.id);
  }
  return 0;
}

}  // namespace

extern const Command solstice_commands_import_run;
const Command solstice_commands_import_run = {
    .name = "import-run",
    .summary = "Take a run that was exported elsewhere into the store",
    .help =
        "PATH is what `solstice export` wrote, as `dir` or `json`. The run keeps its id: where the store has it "
        "already, nothing changes if "
        "all of it is the same, and anything else is an error. A run that was going on when it was exported is "
        "refused.",
    .example = "solstice import-run mlp-run",
    .parameters = {{"PATH", "", "the export", "", {}, true, false},
                   {"--store", "DIR", "another store than the user's", "", {}, false, false},
                   json_flag()},
    .run = run_import_run,
};

}  // namespace solstice::cli
