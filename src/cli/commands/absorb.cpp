// solstice absorb: takes the results of a batch into its run.
#include <fmt/format.h>

#include "cli/command.h"
#include "cli/harmless.h"
#include "cli/view/table.h"
#include "flow/batch/batch.h"

namespace solstice::cli {
namespace {

std::string absorbed_text(const flow::AbsorbOutcome& done) {
  std::string out = fmt::format("run {}: {} results added, {} known already, {} missing; {} still out\n", done.run,
                                done.taken, done.known, done.missing, done.in_flight);
  for (const std::string& refused : done.refused) out += harmless(refused) + "\n";
  for (const std::string& warning : done.warnings) out += harmless("warning: " + warning) + "\n";
  if (done.best == 0) return out + "no candidate is usable yet\n";
  out += fmt::format("best: trial {}, {}", done.best, show(done.best_time, done.predicted));
  if (done.original.value > 0) out += fmt::format(", {:.2f}x as fast as the original", done.original / done.best_time);
  out += "\n";
  return done.predicted ? out + kPredictedNote : out;
}

Result<int> run_absorb(const Invocation& in) {
  SOLSTICE_TRY(const flow::AbsorbOutcome done, flow::absorb_batch(in.get("BATCH"), in.get("--store")));
  const int code = done.refused.empty() ? 0 : exit_code(ErrorKind::kInput);
  if (!in.json()) {
    fmt::print("{}", absorbed_text(done));
    return code;
  }
  Json out = Json::object()
                 .set("run", done.run)
                 .set("taken", done.taken)
                 .set("known", done.known)
                 .set("missing", done.missing)
                 .set("in_flight", done.in_flight)
                 .set("refused", text_list(done.refused))
                 .set("warnings", text_list(done.warnings));
  if (done.best > 0)
    out.set(
        "best",
        Json::object().set("trial", done.best).set("seconds", done.best_time.value).set("predicted", done.predicted));
  if (done.original.value > 0) out.set("original", done.original.value);
  fmt::print("{}\n", out.dump(2));
  return code;
}

}  // namespace

extern const Command solstice_commands_absorb;
const Command solstice_commands_absorb = {
    .name = "absorb",
    .summary = "Add the results of a batch to its run",
    .help =
        "Results may still be missing: absorb the batch again when more have come, and each result counts once. "
        "A result that is damaged, or that belongs to another program than the run proposed, is refused; the "
        "others are added, and the exit code is 2. `solstice propose RUN` continues the search. On the machine "
        "with the GPU, `solstice optimize --resume RUN` verifies the best candidate in full and writes the "
        "drop-in module.",
    .example = "solstice absorb batch1",
    .parameters = {{"BATCH", "", "folder that `solstice evaluate` has filled", "", {}, true, false},
                   {"--store", "DIR", "run store [default: yours]", "", {}, false, false},
                   json_flag()},
    .run = run_absorb,
};

}  // namespace solstice::cli
