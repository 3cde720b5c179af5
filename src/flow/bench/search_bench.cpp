#include "flow/bench/search_bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <tuple>

#include "base/clock.h"
#include "base/file.h"
#include "base/process/interrupt.h"
#include "base/time_text.h"
#include "base/version.h"
#include "flow/bench/row.h"
#include "flow/bench/same.h"
#include "flow/history/recorded_runs.h"
#include "flow/run/optimize.h"
#include "flow/run/outcome/outcome.h"
#include "flow/run/state/facts.h"
#include "flow/run/state/stored_runs.h"

namespace solstice::flow {
namespace fs = std::filesystem;
namespace {

constexpr const char* kFile = "search.json";
constexpr const char* kStore = "store";

std::map<std::string, std::string> shaping(const SearchBenchOptions& options) {
  const OptimizeOptions& each = options.each;
  std::map<std::string, std::string> out = {{"trials", std::to_string(each.search.trials)},
                                            {"budget", time_text(each.search.budget)},
                                            {"numerics", each.terms.numerics},
                                            {"device", each.place.device},
                                            {"machine", each.place.machine.empty() ? "auto" : each.place.machine},
                                            {"eps", fmt::format("{:g}", each.search.eps)},
                                            {"window", std::to_string(each.search.window)},
                                            {"memory", options.memory.empty() ? "off" : whole_path(options.memory)}};
  if (!each.search.findings) out["findings"] = "off";
  if (each.place.gpus.given()) out["devices"] = each.place.gpus.text();
  return out;
}

bool is_of_another_file(const SearchRow& row, const std::vector<BenchProblem>& problems) {
  const auto problem =
      std::find_if(problems.begin(), problems.end(), [&](const BenchProblem& p) { return p.id == row.id; });
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
    return fail(Code::not_found,
                fmt::format("--memory {}: not a run store (it has no runs.db)", options.memory.string()),
                "give one, or leave --memory out");
  }
  std::error_code ignored;
  if (!fs::exists(file, ignored)) return fresh;
  if (!options.resume) {
    return fail(Code::bad_argument, fmt::format("{} holds an earlier bench", file.string()),
                "continue with --resume, or use another --out");
  }
  SOLSTICE_TRY(const std::string text, read_file(file));
  SOLSTICE_TRY(SearchBench old, from_json_file<SearchBench>(text, file, "remove it, or use another --out"));
  if (const std::string other = differences(old.options, fresh.options, "then", "now"); !other.empty()) {
    return fail(Code::bad_argument, fmt::format("{} was run with other options: {}", file.string(), other));
  }
  SOLSTICE_TRY(store::Store all, store::Store::open(options.out / kStore));
  SOLSTICE_TRY(const std::vector<store::ListedRun> runs, all.list(std::numeric_limits<int>::max()));
  std::vector<SearchRow> rows;
  for (SearchRow& row : old.rows) {
    if (!row.failed.empty() || is_of_another_file(row, options.problems)) continue;
    // A row is written before its run is taken over: one whose run is missing was killed in between.
    const auto run = std::find_if(runs.begin(), runs.end(), [&](const auto& listed) { return listed.id == row.run; });
    if (run == runs.end()) continue;
    if (!run->run.ok()) return run->run.error();
    rows.push_back(std::move(row));
  }
  old.rows = std::move(rows);
  return old;
}

struct SearchedRun {
  SearchRow row;
  std::optional<store::LoadedRun> run = {};  // none where there is no search
};

// One search, in a store of its own that is thrown away when the run has been read.
class OneSearch {
 public:
  OneSearch(const SearchBenchOptions& options, const BenchProblem& problem, std::string policy, int seed)
      : options_(options), problem_(problem), folder_(options.out / "searching") {
    out_.row.id = problem.id;
    out_.row.name = problem.name;
    out_.row.policy = std::move(policy);
    out_.row.seed = seed;
  }

  Result<SearchedRun> run(Engine& engine, Progress& progress) {
    SOLSTICE_CHECK(clear());
    SOLSTICE_TRY(out_.row.source, hash_of(problem_));
    if (!options_.memory.empty()) SOLSTICE_CHECK(copy_memory());
    const Result<OptimizeOutcome> outcome = optimize(request(), progress, engine);
    if (!outcome.ok()) {
      if (ends_the_bench(outcome.error()) || outcome.error().code == Code::interrupted) return outcome.error();
      out_.row.failed = outcome.error().text();
    } else if (outcome->report.outcome == RunOutcome::kUnsupported) {
      out_.row.failed = outcome->report.reason;
    } else {
      SOLSTICE_CHECK(read(*outcome));
    }
    SOLSTICE_CHECK(clear());
    return std::move(out_);
  }

 private:
  OptimizeOptions request() const {
    OptimizeOptions each = options_.each;
    each.module.file = problem_.file;
    each.module.name = problem_.id + " " + problem_.name;
    each.search.policy = out_.row.policy;
    each.search.seed = static_cast<uint64_t>(out_.row.seed);
    each.search.memory = !options_.memory.empty();
    each.store = folder_ / kStore;
    each.out = folder_ / "outcome";
    each.baselines = false;
    each.search.only = true;
    each.keep = true;
    return each;
  }

  Status clear() const {
    std::error_code error;
    fs::remove_all(folder_, error);
    return error ? fail(Code::io_error, fmt::format("cannot clear {}: {}", folder_.string(), error.message()))
                 : success();
  }

  Status copy_memory() const {
    SOLSTICE_CHECK(make_folder(folder_));
    std::error_code error;
    fs::copy(options_.memory, folder_ / kStore, fs::copy_options::recursive, error);
    return error ? fail(Code::io_error, fmt::format("cannot copy {}: {}", options_.memory.string(), error.message()))
                 : success();
  }

  Status read(const OptimizeOutcome& outcome) {
    SearchRow& row = out_.row;
    SOLSTICE_TRY(store::Store own, store::Store::open(folder_ / kStore));
    SOLSTICE_TRY(out_.run, own.load_run(outcome.report.run));
    const store::LoadedRun& loaded = *out_.run;
    SOLSTICE_TRY(const search::Record record, search_of(loaded));
    row.run = loaded.run.id;
    row.device = loaded.run.device;
    row.original = record.sequence().original;
    row.bound = record.sequence().bound;
    const auto& points = record.sequence().points;
    for (size_t i = 1; i < points.size(); ++i) row.best.push_back(points[i].best.time);
    const auto took = outcome.report.timings.find("search");
    if (took != outcome.report.timings.end()) row.took = took->second;
    for (const TrialRecord& trial : loaded.trials) row.measuring += trial.measuring;
    row.stop = loaded.run.summary.at("stop").as_string();
    return success();
  }

  const SearchBenchOptions& options_;
  const BenchProblem& problem_;
  fs::path folder_;
  SearchedRun out_;
};

bool is_of(const SearchRow& row, const BenchProblem& problem, const std::string& policy, int seed) {
  return row.id == problem.id && row.policy == policy && row.seed == seed;
}

// Rows in the order of the options' problems and policies, also after failures of an earlier bench were tried again.
void in_order(std::vector<SearchRow>& rows, const SearchBenchOptions& options) {
  const auto place = [&](const SearchRow& row) {
    const auto problem = std::find_if(options.problems.begin(), options.problems.end(),
                                      [&](const BenchProblem& p) { return p.id == row.id; });
    const auto policy = std::find(options.policies.begin(), options.policies.end(), row.policy);
    return std::make_tuple(problem - options.problems.begin(), policy - options.policies.begin(), row.seed);
  };
  std::stable_sort(rows.begin(), rows.end(),
                   [&](const SearchRow& a, const SearchRow& b) { return place(a) < place(b); });
}

// Times of two devices in one paired test would say nothing of the policies.
Status check_device(const SearchBench& bench, const SearchRow& row) {
  const auto other = std::find_if(bench.rows.begin(), bench.rows.end(), [&](const SearchRow& r) {
    return r.failed.empty() && row.failed.empty() && r.device != row.device;
  });
  if (other == bench.rows.end()) return success();
  return fail(
      Code::bad_argument,
      fmt::format("{} was searched on {}, this is {}: continue on the machine of the bench, or use another --out",
                  other->id, other->device, row.device));
}

Status write(const SearchBench& bench, const fs::path& out) {
  return write_file(out / kFile, to_json(bench).dump(1) + "\n");
}

}  // namespace

Result<SearchBench> run_search_bench(const SearchBenchOptions& options, Progress& progress,
                                     const std::function<void(const SearchRow&)>& after) {
  SOLSTICE_TRY(const OutcomeLock lock, OutcomeLock::take(options.out));
  SOLSTICE_TRY(SearchBench bench, start(options));
  SOLSTICE_TRY(store::Store all, store::Store::open(options.out / kStore));
  Engine engine;
  for (const BenchProblem& problem : options.problems) {
    for (int seed = 1; seed <= options.seeds; ++seed) {
      for (const std::string& policy : options.policies) {
        const auto known = std::find_if(bench.rows.begin(), bench.rows.end(),
                                        [&](const SearchRow& row) { return is_of(row, problem, policy, seed); });
        if (known != bench.rows.end()) {
          after(*known);
          continue;
        }
        if (interrupted()) return bench;
        SOLSTICE_TRY(
            SearchedRun searched,
            OneSearch(options, problem, policy, seed).run(engine, progress).context("search of " + problem.id));
        if (interrupted()) return bench;  // a stopped search has no result
        SOLSTICE_CHECK(check_device(bench, searched.row));
        after(searched.row);
        bench.rows.push_back(std::move(searched.row));
        in_order(bench.rows, options);
        SOLSTICE_CHECK(write(bench, options.out));
        if (searched.run) SOLSTICE_CHECK(all.add_run(*searched.run));
      }
    }
    engine.release_problem();
  }
  SOLSTICE_CHECK(rebuild_facts(all));  // so that this store can be another bench's memory
  return bench;
}

}  // namespace solstice::flow
