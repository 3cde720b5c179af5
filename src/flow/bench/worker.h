// The machine of a bench: one Python, one compiler and one judge for all problems.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "flow/bench/opponents.h"
#include "flow/run/optimize_outcome.h"
#include "flow/run/state/options.h"
#include "record/progress.h"
#include "search/stop_rule.h"
#include "search/tree.h"

namespace solstice::flow {

// A search that takes turns with others: Optimization (optimization.h) on the machine. Its memory there is free once
// it is destroyed; its run is brought to its end by BenchWorker::optimize().
class BenchSearch {
 public:
  virtual ~BenchSearch() = default;
  virtual bool ready() const = 0;
  virtual const std::string& run() const = 0;
  virtual const search::Tree& tree() const = 0;
  virtual Seconds original() const = 0;
  virtual Seconds bound() const = 0;
  virtual std::optional<search::Stop> step() = 0;
  virtual Result<OptimizeOutcome> conclude() = 0;  // of one that is not ready: why
};

// The machine, as a bench asks it. begin() and end() bracket the requests of one problem, which may share what was
// prepared for it.
class BenchWorker {
 public:
  virtual ~BenchWorker() = default;
  virtual void begin(const OptimizeOptions& options) = 0;
  virtual Result<OptimizeOutcome> optimize(const OptimizeOptions& options, Progress& progress) = 0;
  virtual Result<std::unique_ptr<BenchSearch>> open(const OptimizeOptions& options, Progress& progress) = 0;
  virtual Result<OpponentsFound> compete(const OpponentsRequest& request, Progress& progress) = 0;
  virtual void end() = 0;
  // The processes that open searches share still work. Where they do not, each search is closed, and renew() lets go of
  // them: the next search that is opened has others.
  virtual bool sound() const = 0;
  virtual void renew() = 0;
};
// One Python, one compiler and one judge for all problems; searches that take turns have a Python process each.
std::unique_ptr<BenchWorker> engine_worker();

}  // namespace solstice::flow
