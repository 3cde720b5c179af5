// solstice export: a run of the store as files.
#include <fmt/format.h>

#include "cli/command.h"
#include "cli/named_store.h"
#include "store/exported.h"

namespace solstice::cli {
namespace {

std::string content_of(const store::LoadedRun& run, const std::string& format) {
  return format == "csv" ? store::trials_csv(run) : to_json(store::exported(run)).dump(1) + "\n";
}

Status write_export(const store::LoadedRun& run, const Invocation& in) {
  const std::string &format = in.get("--format"), &path = in.get("PATH");
  const bool force = in.flag("--force");
  SOLSTICE_CHECK(format == "dir" ? store::export_folder(run, path, force)
                                 : store::export_file(content_of(run, format), path, force));
  if (in.json())
    fmt::print("{}\n", Json::object().set("run", run.run.id).set("format", format).set("path", path).dump(2));
  else
    fmt::print("run {}: {} trials and {} events in {}\n", run.run.id, run.trials.size(), run.events.size(), path);
  return success();
}

Status check_export(const Invocation& in) {
  if (in.has("PATH")) return success();
  if (in.get("--format") == "dir")
    return fail(Code::bad_argument, "a folder needs a PATH; --format json and csv can be printed");
  for (const char* option : {"--force", "--json"}) {
    if (in.has(option)) return fail(Code::bad_argument, fmt::format("{} goes with a PATH", option));
  }
  return success();
}

Result<int> run_export(const Invocation& in) {
  SOLSTICE_CHECK(check_export(in));
  SOLSTICE_TRY(store::Store store, named_store(in));
  SOLSTICE_CHECK(store.close_abandoned());
  SOLSTICE_TRY(const store::LoadedRun loaded, store.load_run(in.get("RUN")));
  if (in.has("PATH"))
    SOLSTICE_CHECK(write_export(loaded, in));
  else
    fmt::print("{}", content_of(loaded, in.get("--format")));
  return 0;
}

}  // namespace

extern const Command solstice_commands_export;
const Command solstice_commands_export = {
    .name = "export",
    .summary = "Write a run as files: for people, other programs, another store",
    .help =
        "RUN is an id, a prefix of one, or `last`. With --format dir, PATH becomes a folder with the run's "
        "record, its trials and events as JSON lines, a table of the trials, every program, and a README that "
        "describes the files; `json` writes all of it as one file; `csv` writes the table alone. `solstice "
        "import-run` reads the first two.\n"
        "The export is written atomically. Existing files are kept unless --force is given; a folder is replaced "
        "only if it is an export and holds nothing else.",
    .example = "solstice export last mlp-run",
    .parameters = {{"RUN", "", "run to export", "", {}, true, false},
                   {"PATH", "", "folder or file to write; json and csv are printed without it", "", {}, false, false},
                   {"--format", "FORMAT", "format", "dir", {"dir", "json", "csv"}, false, false},
                   {"--force", "", "replace an existing file or export", "", {}, false, false},
                   {"--store", "DIR", "run store [default: yours]", "", {}, false, false},
                   {"--json", "", "print the list of written files as one JSON value", "", {}, false, false}},
    .run = run_export,
};

}  // namespace solstice::cli
