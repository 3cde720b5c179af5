// solstice bench families: times what the cost models predict.
#include <fmt/format.h>

#include "base/paths.h"
#include "cli/command.h"
#include "cli/progress.h"
#include "cli/values.h"
#include "flow/fit/measure.h"

namespace solstice::cli {
namespace {

Result<int> run_bench_families(const Invocation& in) {
  flow::FitOptions options;
  options.table = in.get("--table");
  options.only = split(in.get("--only"), ',');
  SOLSTICE_TRY(options.proposals, parse_int("--proposals", in.get("--proposals"), 1, 100));
  options.device = in.get("--device");
  options.machine = in.get("--machine");
  options.allow_busy = in.flag("--allow-busy");
  options.out = in.get("--out");
  if (options.out.empty()) {
    SOLSTICE_TRY(const std::filesystem::path home, home_folder());
    options.out = home / "kernel-times.jsonl";
  }
  const std::unique_ptr<Progress> progress = progress_of(in);
  SOLSTICE_TRY(const flow::FitDone done, flow::measure_fit(options, *progress));
  for (const std::string& refused : done.refused) fmt::print("failed: {}\n", refused);
  if (options.device == "model") {
    fmt::print("{} programs compiled, none measured\n", done.compiled);
  } else {
    fmt::print("{} programs measured: {}\n", done.measured, options.out.string());
  }
  return done.refused.empty() ? 0 : exit_code(ErrorKind::kInternal);
}

}  // namespace

extern const Command solstice_commands_bench_families;
const Command solstice_commands_bench_families = {
    .name = "bench families",
    .summary = "Time kernels of every family next to the predictions of their cost models",
    .help =
        "FILE lists problems, one per line (bench/families/cases.txt describes the format). Each problem is "
        "partitioned into kernels as `optimize` would, and the schedules that the cost models rank first are "
        "compiled and timed with a cold L2. Results are not verified; `optimize` does that. Each measurement is "
        "appended to --out as one line of JSON. `solstice list families --fit` then reports the error of the "
        "cost models. With --device model everything is compiled and nothing is timed.",
    .example = "solstice bench families --only softmax,gelu",
    .parameters =
        {{"--table", "FILE", "problems to time [default: Solstice's own list]", "", {}, false, false},
         {"--only",
          "LIST",
          "only lines that contain one of these words, for example softmax,M=4096",
          "",
          {},
          false,
          false},
         {"--proposals", "N", "schedules per kernel", "5", {}, false, false},
         {"--device", "NAME", "where kernels run; model: compile only", "gpu", {"gpu", "model"}, false, false},
         {"--machine", "NAME", "machine description [default: that of the GPU]", "", {}, false, false},
         {"--allow-busy", "", "measure even if other processes keep the GPU busy", "", {}, false, false},
         {"--out",
          "FILE",
          "file to append to [default: kernel-times.jsonl next to the run store]",
          "",
          {},
          false,
          false},
         quiet_flag()},
    .run = run_bench_families,
};

}  // namespace solstice::cli
