#include "flow/bench/rows.h"

#include <fmt/format.h>

#include <algorithm>

#include "flow/bench/bench_files.h"
#include "flow/bench/row.h"
#include "flow/bench/same.h"
#include "flow/run/state/stored_runs.h"

namespace solstice::flow {
namespace {

// Times of two machines do not belong in one table.
Status check_same_place(const Bench& bench, const BenchRow& fresh, const std::filesystem::path& out) {
  for (const BenchRow& row : bench.rows) {
    if (const std::string other = place_difference(row, fresh, "then", "now"); !other.empty()) {
      return fail(Code::bad_argument,
                  fmt::format("{} holds rows from another place: {}", (out / "bench.json").string(), other),
                  "use another --out");
    }
  }
  return success();
}

}  // namespace

const BenchRow* BenchRows::known(const BenchProblem& problem) {
  const auto row =
      std::find_if(bench_.rows.begin(), bench_.rows.end(), [&](const BenchRow& r) { return r.id == problem.id; });
  if (row == bench_.rows.end()) return nullptr;
  const Result<std::string> source = hash_of(problem);
  if (source.ok() && row->source == *source) {
    after_(*row);
    return &*row;
  }
  progress_.message(fmt::format(
      "{}: {}; it is run again", problem.id,
      row->source.empty() ? "the stored row does not name its file" : "its file is not that of the stored row"));
  bench_.rows.erase(row);
  return nullptr;
}

Status BenchRows::add(BenchRow row) {
  SOLSTICE_CHECK(check_same_place(bench_, row, out_));
  bench_.open.erase(row.id);
  bench_.ended.erase(row.id);
  const auto place =
      bench_.rows.insert(std::upper_bound(bench_.rows.begin(), bench_.rows.end(), row, before), std::move(row));
  SOLSTICE_CHECK(write_bench(bench_, out_));
  after_(*place);
  return success();
}

std::string BenchRows::run_of(const BenchProblem& problem) const {
  const auto found = bench_.open.find(problem.id);
  return found == bench_.open.end() ? "" : found->second;
}

Status BenchRows::open(const BenchProblem& problem, const std::string& run) {
  if (run_of(problem) == run) return success();
  bench_.open[problem.id] = run;
  bench_.ended.erase(problem.id);  // that was of another run
  return write_bench(bench_, out_);
}

std::optional<search::Stop> BenchRows::ended(const BenchProblem& problem) const {
  const auto found = bench_.ended.find(problem.id);
  if (found == bench_.ended.end()) return std::nullopt;
  return stop_named(found->second == "patience" ? "window" : found->second);  // as an earlier Solstice wrote
}

Status BenchRows::end(const BenchProblem& problem, search::Stop why) {
  bench_.ended[problem.id] = enum_name(why);
  return write_bench(bench_, out_);
}

Status BenchRows::set_apart(const BenchProblem& problem, const BenchTurns& had) {
  bench_.open.erase(problem.id);
  bench_.ended.erase(problem.id);
  bench_.apart[problem.id] = had;
  return write_bench(bench_, out_);
}

const BenchTurns* BenchRows::had_before_apart(const BenchProblem& problem) const {
  const auto found = bench_.apart.find(problem.id);
  return found == bench_.apart.end() ? nullptr : &found->second;
}

}  // namespace solstice::flow
