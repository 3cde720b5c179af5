// solstice import-run: a run of another store.
#include <fmt/format.h>

#include "cli/command.h"
#include "flow/history/recorded_runs.h"
#include "flow/run/state/stored_runs.h"
#include "store/exported.h"

namespace solstice::cli {
namespace {

Result<int> run_import_run(const Invocation& in) {
  Result<store::LoadedRun> read = store::read_exported(in.get("PATH"));
  if (!read.ok() && read.error().hint.empty())
    read.error().hint = "`solstice export RUN PATH` writes what is read here";
  SOLSTICE_TRY(const store::LoadedRun loaded, std::move(read));
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
    .summary = "Import an exported run into the run store",
    .help =
        "PATH is a `dir` or `json` export of `solstice export`. The run keeps its id. If the store already has a "
        "run of this id, identical content changes nothing, and different content is an error. A run that had "
        "not ended when it was exported is refused.",
    .example = "solstice import-run mlp-run",
    .parameters = {{"PATH", "", "folder or file of the export", "", {}, true, false},
                   {"--store", "DIR", "run store [default: yours]", "", {}, false, false},
                   json_flag()},
    .run = run_import_run,
};

}  // namespace solstice::cli
