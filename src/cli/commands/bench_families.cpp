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
  const std::unique_ptr<Progress> progress = progress_for(stderr);
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
    .summary = "Time kernels of every family beside what its cost model says",
    .help =
        "FILE lists problems, a line each (bench/families/cases.txt says how). Each is cut into kernels as `optimize` "
        "would, "
        "and the schedules that the cost models like best are compiled and timed with a cold L2; results are not "
        "looked at, "
        "which is `optimize`'s work. A line of JSON for each is added to --out, as soon as it is known. `solstice list "
        "families --fit` then says how good the cost models are. With --device model everything is compiled and "
        "nothing timed.",
    .example = "solstice bench families --only softmax,gelu",
    .parameters =
        {{"--table", "FILE", "problems [default: Solstice's own]", "", {}, false, false},
         {"--only", "LIST", "those whose line has one of these, for example softmax,M=4096", "", {}, false, false},
         {"--proposals", "N", "schedules of a kernel", "5", {}, false, false},
         {"--device", "NAME", "where they run; model: nowhere", "gpu", {"gpu", "model"}, false, false},
         {"--machine", "NAME", "machine description; found from the GPU where it is not given", "", {}, false, false},
         {"--allow-busy", "", "go on where others keep the GPU busy", "", {}, false, false},
         {"--out",
          "FILE",
          "where lines are added [default: kernel-times.jsonl beside the run store]",
          "",
          {},
          false,
          false}},
    .run = run_bench_families,
};

}  // namespace solstice::cli
