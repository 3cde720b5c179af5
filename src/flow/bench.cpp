#include "flow/bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "base/clock.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "base/sha256.h"
#include "base/version.h"
#include "flow/known.h"
#include "flow/outcome.h"

namespace solstice::flow {
namespace fs = std::filesystem;
namespace {

std::optional<int> leading_int(std::string_view text) {
  int value = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() ? std::optional(value) : std::nullopt;
}

struct Found {
  int level;
  int number;
  BenchProblem problem;
};

Status list_level(const fs::path& folder, int level, std::vector<Found>& out) {
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const fs::directory_entry& entry = *at;
    const std::string stem = entry.path().stem().string();
    const std::optional<int> number = leading_int(stem);
    const size_t underscore = stem.find('_');
    if (entry.path().extension() != ".py" || !number || underscore == std::string::npos) continue;
    out.push_back({level, *number, {fmt::format("{}/{}", level, *number), stem.substr(underscore + 1), entry.path()}});
  }
  if (error) return fail(Code::io_error, fmt::format("cannot list {}: {}", folder.string(), error.message()));
  return success();
}

// What changes a row, as text that is compared when a bench is resumed.
std::map<std::string, std::string> options_of(const OptimizeOptions& o) {
  return {{"device", o.device},
          {"machine", o.machine},
          {"numerics", o.numerics},
          {"weights", o.frozen ? "frozen" : "live"},
          {"budget", fmt::format("{} s", o.budget.value)},
          {"trials", std::to_string(o.trials)}};
}

Result<Bench> read_bench(const std::string& text, const fs::path& file) {
  const Result<Json> json = parse_json(text);
  Result<Bench> bench = json.ok() ? from_json<Bench>(*json) : Result<Bench>(json.error());
  if (bench.ok()) return bench;
  return fail(bench.error().code,
              fmt::format("{} cannot be resumed: {}; move it away, or use another --out", file.string(), bench.error().message));
}

// "budget (15 s then, 60 s now), trials (...)"
std::string differences(const std::map<std::string, std::string>& then, const std::map<std::string, std::string>& now) {
  std::map<std::string, std::array<std::string, 2>> values;
  for (const auto& [name, value] : then) values[name][0] = value;
  for (const auto& [name, value] : now) values[name][1] = value;
  std::string out;
  for (const auto& [name, pair] : values) {
    if (pair[0] == pair[1]) continue;
    const auto shown = [](const std::string& value) { return value.empty() ? "not given" : value; };
    out += fmt::format("{}{} ({} then, {} now)", out.empty() ? "" : ", ", name, shown(pair[0]), shown(pair[1]));
  }
  return out;
}

Result<Bench> start_bench(const BenchOptions& options) {
  Bench fresh;
  fresh.options = options_of(options.each);
  fresh.version = version();
  fresh.started = utc_now();
  const fs::path file = options.out / "bench.json";
  std::error_code ignored;
  if (!fs::exists(file, ignored)) return fresh;
  if (!options.resume) {
    return fail(Code::bad_argument,
                fmt::format("{} holds the rows of an earlier bench; go on with --resume, or use another --out", file.string()));
  }
  SOLSTICE_TRY(const std::string text, read_file(file));
  SOLSTICE_TRY(Bench old, read_bench(text, file));
  if (old.options != fresh.options) {
    return fail(Code::bad_argument, fmt::format("{} was made under other options: {}; use another --out, or the same options",
                                                file.string(), differences(old.options, fresh.options)));
  }
  std::erase_if(old.rows, [](const BenchRow& row) { return row.failed; });
  return old;
}

bool ends_the_bench(const Error& error) {
  static constexpr std::array kFatal = {Code::no_gpu,    Code::no_driver,   Code::no_python, Code::no_compiler,
                                        Code::disk_full, Code::store_error, Code::not_yet};
  return std::find(kFatal.begin(), kFatal.end(), error.code) != kFatal.end();
}

// What may differ between the rows of one table: only the build of Solstice.
constexpr std::array kSameForAll = {"device", "driver", "torch"};

std::map<std::string, std::string> made_with(const Report& report) {
  std::map<std::string, std::string> out = {{"solstice", std::string(version())}, {"build", build_identity()}};
  if (!report.device.empty()) out["device"] = report.device;
  for (const char* name : {"driver", "torch"}) {
    if (const auto found = report.versions.find(name); found != report.versions.end()) out[name] = found->second;
  }
  return out;
}

// Times of two machines do not belong in one table.
Status check_same_place(const Bench& bench, const BenchRow& fresh, const fs::path& out) {
  for (const BenchRow& row : bench.rows) {
    for (const char* name : kSameForAll) {
      const auto then = row.made_with.find(name), now = fresh.made_with.find(name);
      if (then == row.made_with.end() || now == fresh.made_with.end() || then->second == now->second) continue;
      return fail(Code::bad_argument, fmt::format("{} holds rows made with {} {}, this is {}; use another --out",
                                                  (out / "bench.json").string(), name, then->second, now->second));
    }
  }
  return success();
}

Result<std::string> hash_of(const BenchProblem& problem) {
  SOLSTICE_TRY(const std::string text, read_file(problem.file));
  return sha256_hex(text);
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

void fill(BenchRow& row, const OptimizeOutcome& outcome) {
  const Report& report = outcome.report;
  row.outcome = report.outcome;
  row.reason = report.reason;
  row.predicted = report.predicted;
  row.speedup = report.headline.speedup;
  if (report.headline.original) row.original = report.headline.original->median;
  if (report.headline.replacement) row.replacement = report.headline.replacement->median;
  row.run = report.run;
  row.folder = outcome.out.string();
  row.made_with = made_with(report);
}

Result<BenchRow> run_problem(const BenchOptions& options, const BenchProblem& problem, const Optimize& optimize, Progress& progress) {
  OptimizeOptions each = options.each;
  each.file = problem.file;
  each.problem = problem.id + " " + problem.name;
  std::string folder = problem.id;
  std::replace(folder.begin(), folder.end(), '/', '_');
  each.out = options.out / folder;
  BenchRow row;
  row.id = problem.id;
  row.name = problem.name;
  const Seconds start = monotonic_now();
  const Result<std::string> source = hash_of(problem);
  Result<OptimizeOutcome> outcome = source.ok() ? optimize(each, progress) : Result<OptimizeOutcome>(source.error());
  if (source.ok()) row.source = *source;
  row.took = monotonic_now() - start;
  if (outcome.ok()) {
    fill(row, *outcome);
    return row;
  }
  if (ends_the_bench(outcome.error())) return std::move(outcome).error();
  row.failed = true;
  row.outcome = outcome.error().code == Code::unsupported_operator ? RunOutcome::kUnsupported : RunOutcome::kNone;
  row.reason = fmt::format("{}: {}", name_of(outcome.error().code), outcome.error().message);
  return row;
}

Status write_bench(const Bench& bench, const fs::path& folder) {
  SOLSTICE_CHECK(write_file(folder / "bench.json", to_json(bench).dump(2) + "\n"));
  return write_file(folder / "bench.md", render_bench(bench));
}

}  // namespace

Result<std::vector<BenchProblem>> list_problems(const fs::path& folder, const std::vector<int>& levels,
                                                const std::vector<std::string>& only) {
  std::vector<Found> found;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    const std::optional<int> level = name.starts_with("level") ? leading_int(name.substr(5)) : std::nullopt;
    if (level && (levels.empty() || std::find(levels.begin(), levels.end(), *level) != levels.end())) {
      SOLSTICE_CHECK(list_level(entry.path(), *level, found));
    }
  }
  if (error) return fail(Code::not_found, fmt::format("cannot list {}: {}", folder.string(), error.message()));
  std::sort(found.begin(), found.end(),
            [](const Found& a, const Found& b) { return std::pair(a.level, a.number) < std::pair(b.level, b.number); });
  std::vector<BenchProblem> problems;
  for (const std::string& id : only) {
    const bool there = std::any_of(found.begin(), found.end(), [&](const Found& f) { return f.problem.id == id; });
    if (!there) return fail(Code::not_found, fmt::format("{} holds no problem {} of the chosen levels", folder.string(), id));
  }
  for (Found& f : found) {
    const bool chosen = only.empty() || std::find(only.begin(), only.end(), f.problem.id) != only.end();
    if (chosen) problems.push_back(std::move(f.problem));
  }
  if (problems.empty()) {
    return fail(Code::not_found, fmt::format("{} holds no problems; expected level1/1_NAME.py and so on", folder.string()));
  }
  return problems;
}

Result<Bench> run_bench(const BenchOptions& options, const Optimize& optimize, Progress& progress,
                        const std::function<void(const BenchRow&)>& after) {
  SOLSTICE_TRY(const OutcomeLock lock, OutcomeLock::take(options.out));
  SOLSTICE_TRY(Bench bench, start_bench(options));
  for (const BenchProblem& problem : options.problems) {
    if (const BenchRow* known = known_row(bench, problem, progress)) {
      after(*known);
      continue;
    }
    if (interrupted()) break;
    SOLSTICE_TRY(BenchRow row, run_problem(options, problem, optimize, progress).context("bench of " + problem.id));
    if (interrupted()) break;  // what was stopped is no result: neither a failure nor the best that a whole search finds
    SOLSTICE_CHECK(check_same_place(bench, row, options.out));
    bench.rows.push_back(std::move(row));
    SOLSTICE_CHECK(write_bench(bench, options.out));
    after(bench.rows.back());
  }
  return bench;
}

}  // namespace solstice::flow
