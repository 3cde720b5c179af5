// The rows of a bench as they come: those that are kept, and new ones, each on disk before the next is begun.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "flow/bench/problems.h"
#include "record/bench.h"
#include "record/progress.h"
#include "search/stop_rule.h"

namespace solstice::flow {

class BenchRows {
 public:
  BenchRows(Bench bench, std::filesystem::path out, Progress& progress,
            const std::function<void(const BenchRow&)>& after)
      : bench_(std::move(bench)), out_(std::move(out)), progress_(progress), after_(after) {}

  // The row of this very problem, if there is one, which `after` is told. One of the same number whose file was another
  // one then is dropped.
  const BenchRow* known(const BenchProblem& problem);
  // Errors: bad_argument where it was made elsewhere than the others; those of writing.
  Status add(BenchRow row);

  // The run of a search that has no row yet; "": none.
  std::string run_of(const BenchProblem& problem) const;
  Status open(const BenchProblem& problem, const std::string& run);
  // The rule by which that search ended by itself, if it did.
  std::optional<search::Stop> ended(const BenchProblem& problem) const;
  Status end(const BenchProblem& problem, search::Stop why);
  // The run is not gone on with, since it found no room beside the others; `had` is spent.
  Status set_apart(const BenchProblem& problem, const BenchTurns& had);
  const BenchTurns* had_before_apart(const BenchProblem& problem) const;  // null: it was not set apart

  Bench& bench() { return bench_; }

 private:
  Bench bench_;
  std::filesystem::path out_;
  Progress& progress_;
  const std::function<void(const BenchRow&)>& after_;
};

}  // namespace solstice::flow
