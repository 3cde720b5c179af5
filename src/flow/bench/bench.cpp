#include "flow/bench/bench.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/clock.h"
#include "base/file.h"
#include "base/process/interrupt.h"
#include "base/version.h"
#include "flow/bench/bench_files.h"
#include "flow/bench/row.h"
#include "flow/bench/rows.h"
#include "flow/bench/same.h"
#include "flow/bench/shared.h"
#include "flow/run/outcome/outcome.h"

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
    return fail(Code::bad_argument, fmt::format("{} holds the rows of an earlier bench", file.string()),
                "continue with --resume, or use another --out");
  }
  Result<Bench> old = load_bench(options.out);
  if (!old.ok()) {
    return fail(old.error().code, fmt::format("{} cannot be resumed: {}", file.string(), old.error().message),
                "move it away, or use another --out");
  }
  if (const std::string other = differences(old->options, fresh.options, "then", "now"); !other.empty()) {
    return fail(Code::bad_argument, fmt::format("{} was run with other options: {}", file.string(), other),
                "use another --out, or the same options");
  }
  std::erase_if(old->rows, [](const BenchRow& row) { return row.failed(); });
  return old;
}

Status run_in_a_row(const BenchOptions& options, BenchWorker& worker, Progress& progress, BenchRows& rows) {
  for (const BenchProblem& problem : options.problems) {
    if (rows.known(problem)) continue;
    if (interrupted()) break;
    SOLSTICE_TRY(BenchRow row, run_problem(options, problem, worker, progress).context("bench of " + problem.id));
    if (interrupted()) break;  // a stopped problem has no result: neither a failure nor the best of a whole search
    SOLSTICE_CHECK(rows.add(std::move(row)));
  }
  return success();
}

}  // namespace

Result<Bench> run_bench(const BenchOptions& options, BenchWorker& worker, Progress& progress,
                        const std::function<void(const BenchRow&)>& after) {
  SOLSTICE_TRY(const OutcomeLock lock, OutcomeLock::take(options.out));
  SOLSTICE_TRY(Bench bench, start_bench(options));
  BenchRows rows(std::move(bench), options.out, progress, after);
  SOLSTICE_CHECK(options.shared ? run_shared(options, worker, progress, rows)
                                : run_in_a_row(options, worker, progress, rows));
  return std::move(rows.bench());
}

}  // namespace solstice::flow
