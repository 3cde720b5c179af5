// solstice bench kernels: the same bench on production shapes in bf16, whose files bring Triton kernels along.
#include "base/paths.h"
#include "cli/bench.h"
#include "cli/values.h"

namespace solstice::cli {
namespace {

Result<int> run_bench_kernels(const Invocation& in) {
  if (in.has("--render")) return render_bench_again(in.get("--render"));
  std::filesystem::path folder = in.get("--path");
  if (folder.empty()) {
    SOLSTICE_TRY(folder, data_folder("bench/kernels"));
  }
  SOLSTICE_TRY(std::vector<flow::BenchProblem> problems, flow::list_modules(folder, split(in.get("--only"), ',')));
  return run_bench_of(in, std::move(problems));
}

}  // namespace

extern const Command solstice_commands_bench_kernels;
const Command solstice_commands_bench_kernels = {
    .name = "bench kernels",
    .summary = "Optimise production shapes in bf16, with Triton kernels as further baselines",
    .help =
        "DIR holds one module per file. A file may define `opponents(model)`, which returns a dictionary of "
        "named forwards; these are timed as baselines, next to PyTorch's modes. Solstice's own folder has a norm "
        "with its matrix product, a decoding GEMV, a gated MLP, and the grouped GEMM of a mixture of experts "
        "with its weight gradient. Everything else is as in `bench kernelbench`.",
    .example = "solstice bench kernels --budget 20s",
    .parameters = bench_parameters(
        {{"--path", "DIR", "folder of modules [default: Solstice's own]", "", {}, false, false},
         {"--only", "LIST", "modules to run, for example decode_gemv,fused_mlp", "", {}, false, false}},
        "runs/kernels"),
    .run = run_bench_kernels,
    .polls_interrupts = true,
};

}  // namespace solstice::cli
