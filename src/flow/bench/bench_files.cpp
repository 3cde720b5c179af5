#include "flow/bench/bench_files.h"

#include "base/file.h"
#include "flow/bench/chart.h"
#include "flow/bench/text.h"

namespace solstice::flow {
namespace fs = std::filesystem;

Result<Bench> load_bench(const fs::path& folder) {
  const fs::path file = folder / "bench.json";
  SOLSTICE_TRY(const std::string text, read_file(file));
  constexpr const char* kWritten = "`solstice bench kernelbench` writes it";
  SOLSTICE_TRY(const Json json, parse_json_file(text, file, kWritten));
  Result<Bench> bench = read_bench(json);
  if (!bench.ok()) return in_json_file(std::move(bench).error(), text, file, kWritten);
  return bench;
}

Status write_bench(const Bench& bench, const fs::path& folder) {
  SOLSTICE_CHECK(write_file(folder / "bench.json", to_json(bench).dump(2) + "\n"));
  return write_rendered(bench, folder);
}

Status write_rendered(const Bench& bench, const fs::path& folder) {
  SOLSTICE_CHECK(write_file(folder / "bench.md", render_bench(bench)));
  const std::string chart = render_chart(bench);
  return chart.empty() ? success() : write_file(folder / "bench.svg", chart);
}

}  // namespace solstice::flow
