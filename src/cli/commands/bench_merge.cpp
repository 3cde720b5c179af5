// solstice bench merge: one bench of several.
#include <fmt/format.h>

#include "cli/command.h"
#include "flow/bench/bench.h"
#include "flow/bench/bench_files.h"
#include "flow/bench/merge.h"

namespace solstice::cli {
namespace {

Result<int> run_bench_merge(const Invocation& in) {
  const std::filesystem::path out = in.get("--out");
  std::error_code ignored;
  if (std::filesystem::exists(out / "bench.json", ignored)) {
    return fail(Code::bad_argument, fmt::format("{} holds a bench already", out.string()), "use another --out");
  }
  std::vector<flow::NamedBench> benches;
  for (const std::string& folder : in.all("OUT")) {
    Result<Bench> bench = flow::load_bench(folder);
    if (!bench.ok()) return std::move(bench).error();
    benches.push_back({folder, std::move(bench).value()});
  }
  SOLSTICE_TRY(const Bench merged, flow::merge_benches(std::move(benches)));
  SOLSTICE_CHECK(flow::write_bench(merged, out));
  if (in.json()) {
    fmt::print("{}\n", to_json(merged).dump(2));
  } else {
    fmt::print("{} problems; {}\n", merged.rows.size(), (out / "bench.md").string());
  }
  return 0;
}

}  // namespace

extern const Command solstice_commands_bench_merge;
const Command solstice_commands_bench_merge = {
    .name = "bench merge",
    .summary = "Combine several benches into one",
    .help =
        "Each OUT is the output folder of a `bench kernelbench` or `bench kernels`. If several hold the same "
        "problem, the row that finished last wins. Benches with different options, files, GPU, driver or PyTorch "
        "are refused. Reports and drop-in modules stay where they are.",
    .example = "solstice bench merge runs/level1 runs/level2 --out runs/both",
    .parameters = {{"OUT", "", "folders that hold a bench.json", "", {}, true, true},
                   {"--out", "DIR", "folder for bench.json, bench.md and bench.svg", "", {}, true, false},
                   json_flag()},
    .run = run_bench_merge,
};

}  // namespace solstice::cli
