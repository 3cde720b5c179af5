// solstice evaluate: measures a batch of candidates.
#include <fmt/format.h>

#include "base/process/interrupt.h"
#include "cli/command.h"
#include "cli/devices.h"
#include "cli/exit_codes.h"
#include "cli/progress.h"
#include "cli/view/table.h"
#include "flow/batch/batch.h"

namespace solstice::cli {
namespace {

Json counts_of(const flow::EvaluateOutcome& done) {
  return Json::object()
      .set("measured", done.measured)
      .set("predicted", done.predicted)
      .set("usable", done.usable)
      .set("there", done.there)
      .set("predictions", done.predictions)
      .set("left", done.left);
}

std::string predictions_text(const flow::EvaluateOutcome& done) {
  if (done.predictions == 0) return "";
  if (done.predicted) return fmt::format(" ({} predicted)", done.predictions);
  return fmt::format(" ({} predicted, which count as none)", done.predictions);
}

Result<int> run_evaluate(const Invocation& in) {
  flow::EvaluateOptions options;
  options.folder = in.get("BATCH");
  options.device = in.get("--device");
  SOLSTICE_TRY(options.gpus, chosen_devices(in));
  options.allow_busy = in.flag("--allow-busy");
  const std::unique_ptr<Progress> progress = progress_of(in);
  SOLSTICE_TRY(const flow::EvaluateOutcome done, flow::evaluate_batch(options, *progress));
  if (in.json()) {
    fmt::print("{}\n", counts_of(done).dump(2));
  } else {
    fmt::print("{} {}, {} of them usable; {} had results already{}, {} left\n", done.measured,
               done.predicted ? "predicted" : "measured", done.usable, done.there, predictions_text(done), done.left);
    if (done.predicted && done.measured > 0) fmt::print("{}", kPredictedNote);
  }
  return interrupted() ? kInterruptedCode : 0;
}

}  // namespace

extern const Command solstice_commands_evaluate;
const Command solstice_commands_evaluate = {
    .name = "evaluate",
    .summary = "Measure the candidates of a batch on a machine with a GPU",
    .help =
        "Verifies and times the candidates that `solstice propose` wrote, as `optimize` would, and writes the "
        "result of each next to it, atomically. After an interruption (Ctrl-C: exit code 130) the same command "
        "continues. Needs no network and no run store. Without a GPU it is an error; --device model predicts "
        "times instead, marks the results as predicted, and a GPU may still measure these candidates later.",
    .example = "solstice evaluate batch1",
    .parameters = {{"BATCH", "", "folder that `solstice propose` wrote", "", {}, true, false},
                   {"--device",
                    "NAME",
                    "where candidates run; auto: gpu; model: predict times",
                    "auto",
                    {"auto", "gpu", "model"},
                    false,
                    false},
                   devices_option(),
                   {"--allow-busy", "", "measure even if other processes keep the GPU busy", "", {}, false, false},
                   quiet_flag(),
                   json_flag()},
    .run = run_evaluate,
    .polls_interrupts = true,
};

}  // namespace solstice::cli
