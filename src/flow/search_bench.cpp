#include "flow/search_bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "base/clock.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "base/time_text.h"
#include "base/version.h"
#include "flow/bench_row.h"
#include "flow/bench_same.h"
#include "flow/facts.h"
#include "flow/outcome.h"
#include "flow/recorded_runs.h"
#include "flow/session.h"

namespace solstice::flow {
namespace fs = std::filesystem;
namespace {

constexpr const char* kFile = "search.json";

std::map<std::string, std::string> shaping(const SearchBenchOptions& options) {
  const OptimizeOptions& each = options.each;
  std::map<std::string, std::string> out = {{"trials", std::to_string(each.trials)},
                                            {"budget", time_text(each.budget)},
                                            {"numerics", each.numerics},
                                            {"device", each.device},
                                            {"machine", each.machine.empty() ? "auto" : each.machine},
                                            {"eps", fmt::format("{:g}", each.eps)},
                                            {"window", std::to_string(each.window)},
                                            {"memory", options.memory.empty() ? "off" : whole_path(options.memory)}};
  if (each.gpus.given()) out["devices"] = each.gpus.text();
  return out;
}

bool is_of_another_file(const SearchRow& row, const std::vector<BenchProblem>& problems) {
  const auto problem = std::find_if(problems.begin(), problems.end(), [&](const BenchProblem& p) { return p.id == row.id; });
  if (problem == problems.end()) return false;
  const Result<std::string> source = hash_of(*problem);
  return source.ok() && *source != row.source;
}

Result<SearchBench> start(const SearchBenchOptions& options) {
  SearchBench fresh;
  fresh.version = version();
  fresh.started = utc_now();
  fresh.options = shaping(options);
  const fs::path file = options.out / kFile;
  std::error_code missing;
  if (!options.memory.empty() && !fs::exists(options.memory / "runs.db", missing)) {
    return fail(Code::not_found, fmt::format("{} is no run store (it has no runs.db), whose facts could order the searches; without "
                                             "--memory none are used",
                                             options.memory.string()));
  }
  std::error_code ignored;
  if (!fs::exists(file, ignored)) return fresh;
  if (!options.resume) {
    return fail(Code::bad_argument, fmt::format("{} holds an earlier bench; go on with --resume, or use another --out", file.string()));
  }
  SOLSTICE_TRY(const std::string text, read_file(file));
  SOLSTICE_TRY(const Json json, parse_json(text));
  SOLSTICE_TRY(SearchBench old, from_json<SearchBench>(json));
  if (const std::string other = differences(old.options, fresh.options, "then", "now"); !other.empty()) {
    return fail(Code::bad_argument, fmt::format("{} was made under other options: {}", file.string(), other));
  }
  std::erase_if(old.rows, [&](const SearchRow& row) { return !row.failed.empty() || is_of_another_file(row, options.problems); });
  return old;
}

// One search, in a store of its own that is thrown away when the run has been taken over.
class OneSearch {
 public:
  OneSearch(const SearchBenchOptions& options, const BenchProblem& problem, std::string policy, int seed)
      : options_(options), problem_(problem), folder_(options.out / "searching") {
    row_.id = problem.id;
    row_.name = problem.name;
    row_.policy = std::move(policy);
    row_.seed = seed;
  }

  Result<SearchRow> run(Engine& engine, store::Store& all, Progress& progress) {
    SOLSTICE_CHECK(clear());
    SOLSTICE_TRY(row_.source, hash_of(problem_));
    if (!options_.memory.empty()) SOLSTICE_CHECK(copy_memory());
    const Result<OptimizeOutcome> outcome = optimize(request(), progress, engine);
    if (!outcome.ok()) {
      if (ends_the_bench(outcome.error()) || outcome.error().code == Code::interrupted) return outcome.error();
      row_.failed = outcome.error().text();
    } else if (outcome->report.outcome == RunOutcome::kUnsupported) {
      row_.failed = outcome->report.reason;
    } else {
      SOLSTICE_CHECK(take_over(*outcome, all));
    }
    SOLSTICE_CHECK(clear());
    return std::move(row_);
  }

 private:
  OptimizeOptions request() const {
    OptimizeOptions each = options_.each;
    each.file = problem_.file;
    each.problem = problem_.id + " " + problem_.name;
    each.policy = row_.policy;
    each.seed = static_cast<uint64_t>(row_.seed);
    each.memory = !options_.memory.empty();
    each.store = folder_ / "store";
    each.out = folder_ / "outcome";
    each.baselines = false;
    each.search_only = true;
    each.keep = true;
    return each;
  }

  Status clear() const {
    std::error_code error;
    fs::remove_all(folder_, error);
    return error ? fail(Code::io_error, fmt::format("cannot clear {}: {}", folder_.string(), error.message())) : success();
  }

  Status copy_memory() const {
    SOLSTICE_CHECK(make_folder(folder_));
    std::error_code error;
    fs::copy(options_.memory, folder_ / "store", fs::copy_options::recursive, error);
    return error ? fail(Code::io_error, fmt::format("cannot copy {}: {}", options_.memory.string(), error.message())) : success();
  }

  Status take_over(const OptimizeOutcome& outcome, store::Store& all) {
    SOLSTICE_TRY(store::Store own, store::Store::open(folder_ / "store"));
    SOLSTICE_TRY(const store::LoadedRun loaded, own.load_run(outcome.report.run));
    SOLSTICE_TRY(const search::Record record, search_of(loaded));
    row_.run = loaded.run.id;
    row_.device = loaded.run.device;
    row_.original = record.sequence().original;
    row_.bound = record.sequence().bound;
    const auto& points = record.sequence().points;
    for (size_t i = 1; i < points.size(); ++i) row_.best.push_back(points[i].best);
    const auto took = outcome.report.timings.find("search");
    if (took != outcome.report.timings.end()) row_.took = took->second;
    for (const TrialRecord& trial : loaded.trials) row_.measuring += trial.measuring;
    row_.stop = loaded.run.summary.at("stop").as_string();
    SOLSTICE_CHECK(all.add_run(loaded));
    return success();
  }

  const SearchBenchOptions& options_;
  const BenchProblem& problem_;
  fs::path folder_;
  SearchRow row_;
};

bool is_of(const SearchRow& row, const BenchProblem& problem, const std::string& policy, int seed) {
  return row.id == problem.id && row.policy == policy && row.seed == seed;
}

// Of problems and policies in the order of the options, also where an earlier bench's failures were tried again.
void in_order(std::vector<SearchRow>& rows, const SearchBenchOptions& options) {
  const auto place = [&](const SearchRow& row) {
    const auto problem =
        std::find_if(options.problems.begin(), options.problems.end(), [&](const BenchProblem& p) { return p.id == row.id; });
    const auto policy = std::find(options.policies.begin(), options.policies.end(), row.policy);
    return std::make_tuple(problem - options.problems.begin(), policy - options.policies.begin(), row.seed);
  };
  std::stable_sort(rows.begin(), rows.end(), [&](const SearchRow& a, const SearchRow& b) { return place(a) < place(b); });
}

Status write(const SearchBench& bench, const fs::path& out) { return write_file(out / kFile, to_json(bench).dump(1) + "\n"); }

}  // namespace

Result<SearchBench> run_search_bench(const SearchBenchOptions& options, Progress& progress,
                                     const std::function<void(const SearchRow&)>& after) {
  SOLSTICE_TRY(const OutcomeLock lock, OutcomeLock::take(options.out));
  SOLSTICE_TRY(SearchBench bench, start(options));
  SOLSTICE_TRY(store::Store all, store::Store::open(options.out / "store"));
  Engine engine;
  for (const BenchProblem& problem : options.problems) {
    for (int seed = 1; seed <= options.seeds; ++seed) {
      for (const std::string& policy : options.policies) {
        const auto known =
            std::find_if(bench.rows.begin(), bench.rows.end(), [&](const SearchRow& row) { return is_of(row, problem, policy, seed); });
        if (known != bench.rows.end()) {
          after(*known);
          continue;
        }
        if (interrupted()) return bench;
        SOLSTICE_TRY(SearchRow row,
                     OneSearch(options, problem, policy, seed).run(engine, all, progress).context("search of " + problem.id));
        if (interrupted()) return bench;  // what was stopped is no result
        after(row);
        bench.rows.push_back(std::move(row));
        in_order(bench.rows, options);
        SOLSTICE_CHECK(write(bench, options.out));
      }
    }
    engine.release_problem();
  }
  SOLSTICE_CHECK(rebuild_facts(all));  // so that this store can be another bench's memory
  return bench;
}

}  // namespace solstice::flow
