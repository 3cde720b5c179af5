// solstice memory rebuild: facts of every run that is stored.
#include <fmt/format.h>

#include "cli/command.h"
#include "cli/named_store.h"
#include "flow/run/state/facts.h"

namespace solstice::cli {
namespace {

std::string left_out_text(int without_trials) {
  if (without_trials == 0) return "";
  return without_trials == 1 ? "; 1 run without trials" : fmt::format("; {} runs without trials", without_trials);
}

Result<int> run_memory_rebuild(const Invocation& in) {
  SOLSTICE_TRY(store::Store store, named_store(in));
  SOLSTICE_CHECK(store.close_abandoned());
  SOLSTICE_TRY(const flow::Rebuilt rebuilt, flow::rebuild_facts(store));
  if (in.json()) {
    const Json unreadable = text_list(rebuilt.unreadable);
    const Json counts = Json::object()
                            .set("runs", rebuilt.runs)
                            .set("without_trials", rebuilt.without_trials)
                            .set("facts", rebuilt.facts);
    fmt::print("{}\n", Json(counts).set("unreadable", unreadable).dump(2));
    return 0;
  }
  fmt::print("{} new facts from {} runs{}\n", rebuilt.facts, rebuilt.runs, left_out_text(rebuilt.without_trials));
  for (const std::string& why : rebuilt.unreadable) fmt::print("left out: {}\n", why);
  return 0;
}

}  // namespace

extern const Command solstice_commands_memory_rebuild;
const Command solstice_commands_memory_rebuild = {
    .name = "memory rebuild",
    .summary = "Add the facts of all stored runs that were measured on a GPU",
    .help =
        "A run adds its facts when it ends; this command adds those of runs that were killed or come from older "
        "versions of Solstice. A trial that already has a fact keeps it.",
    .example = "solstice memory rebuild",
    .parameters = {{"--store", "DIR", "run store [default: yours]", "", {}, false, false}, json_flag()},
    .run = run_memory_rebuild,
};

}  // namespace solstice::cli
