#include "flow/bench.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/clock.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "base/version.h"
#include "flow/bench_row.h"
#include "flow/bench_same.h"
#include "flow/outcome.h"

namespace solstice::flow {
namespace fs = std::filesystem;
namespace {

Result<Bench> start_bench(const BenchOptions& options) {
  Bench fresh;
  fresh.options = options_of(options);
  fresh.version = version();
  fresh.started = utc_now();
  const fs::path file = options.out / "bench.json";
  std::error_code ignored;
  if (!fs::exists(file, ignored)) return fresh;
  if (!options.resume) {
    return fail(Code::bad_argument,
                fmt::format("{} holds the rows of an earlier bench; go on with --resume, or use another --out", file.string()));
  }
  Result<Bench> old = load_bench(options.out);
  if (!old.ok()) {
    return fail(old.error().code,
                fmt::format("{} cannot be resumed: {}; move it away, or use another --out", file.string(), old.error().message));
  }
  if (const std::string other = differences(old->options, fresh.options, "then", "now"); !other.empty()) {
    return fail(Code::bad_argument,
                fmt::format("{} was made under other options: {}; use another --out, or the same options", file.string(), other));
  }
  std::erase_if(old->rows, [](const BenchRow& row) { return row.failed(); });
  return old;
}

// Times of two machines do not belong in one table.
Status check_same_place(const Bench& bench, const BenchRow& fresh, const fs::path& out) {
  for (const BenchRow& row : bench.rows) {
    if (const std::string other = place_difference(row, fresh, "then", "now"); !other.empty()) {
      return fail(Code::bad_argument,
                  fmt::format("{} holds rows made elsewhere: {}; use another --out", (out / "bench.json").string(), other));
    }
  }
  return success();
}

// The row of this very problem. One of the same number whose file was another one then is dropped.
const BenchRow* known_row(Bench& bench, const BenchProblem& problem, Progress& progress) {
  const auto row = std::find_if(bench.rows.begin(), bench.rows.end(), [&](const BenchRow& r) { return r.id == problem.id; });
  if (row == bench.rows.end()) return nullptr;
  const Result<std::string> source = hash_of(problem);
  if (source.ok() && row->source == *source) return &*row;
  progress.message(fmt::format(
      "{}: {}; it is run again", problem.id,
      row->source.empty() ? "the row that was kept does not say of which file it is" : "its file is not the one of the row that was kept"));
  bench.rows.erase(row);
  return nullptr;
}

}  // namespace

Result<Bench> load_bench(const fs::path& folder) {
  SOLSTICE_TRY(const std::string text, read_file(folder / "bench.json"));
  return read_bench(text);
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

Result<Bench> run_bench(const BenchOptions& options, BenchWorker& worker, Progress& progress,
                        const std::function<void(const BenchRow&)>& after) {
  SOLSTICE_TRY(const OutcomeLock lock, OutcomeLock::take(options.out));
  SOLSTICE_TRY(Bench bench, start_bench(options));
  for (const BenchProblem& problem : options.problems) {
    if (const BenchRow* known = known_row(bench, problem, progress)) {
      after(*known);
      continue;
    }
    if (interrupted()) break;
    SOLSTICE_TRY(BenchRow row, run_problem(options, problem, worker, progress).context("bench of " + problem.id));
    if (interrupted()) break;  // what was stopped is no result: neither a failure nor the best that a whole search finds
    SOLSTICE_CHECK(check_same_place(bench, row, options.out));
    const auto place = bench.rows.insert(std::upper_bound(bench.rows.begin(), bench.rows.end(), row, before), std::move(row));
    SOLSTICE_CHECK(write_bench(bench, options.out));
    after(*place);
  }
  return bench;
}

}  // namespace solstice::flow
