#include "flow/bench/concluded.h"

namespace solstice::flow {

Result<OptimizeOutcome> ConcludingWorker::optimize(const OptimizeOptions& options, Progress& progress) {
  if (outcome_) return std::move(*outcome_);
  OptimizeOptions last = options;
  last.resume = run_;
  last.search.searched = why_;
  return worker_.optimize(last, progress);
}

Result<std::unique_ptr<BenchSearch>> ConcludingWorker::open(const OptimizeOptions& options, Progress& progress) {
  return worker_.open(options, progress);
}

Result<OpponentsFound> ConcludingWorker::compete(const OpponentsRequest& request, Progress& progress) {
  return worker_.compete(request, progress);
}

}  // namespace solstice::flow
