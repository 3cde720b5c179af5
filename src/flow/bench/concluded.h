// Builds the result row of a problem whose search ran under a shared budget: as in a bench without one, except that the
// search is over.
#pragma once

#include "flow/bench/worker.h"

namespace solstice::flow {

class ConcludingWorker : public BenchWorker {
 public:
  // `run` is brought to its end; it stopped for `why`.
  ConcludingWorker(BenchWorker& worker, std::string run, search::Stop why)
      : worker_(worker), run_(std::move(run)), why_(why) {}
  // It is over already.
  ConcludingWorker(BenchWorker& worker, Result<OptimizeOutcome> outcome)
      : worker_(worker), outcome_(std::move(outcome)) {}

  void begin(const OptimizeOptions&) override {
  }  // no search hides that opponents are prepared: they are when they are asked for
  Result<OptimizeOutcome> optimize(const OptimizeOptions& options, Progress& progress) override;
  Result<std::unique_ptr<BenchSearch>> open(const OptimizeOptions& options, Progress& progress) override;
  Result<OpponentsFound> compete(const OpponentsRequest& request, Progress& progress) override;
  void end() override { worker_.end(); }
  bool sound() const override { return worker_.sound(); }
  void renew() override { worker_.renew(); }

 private:
  BenchWorker& worker_;
  std::string run_;
  search::Stop why_ = search::Stop::kShared;
  std::optional<Result<OptimizeOutcome>> outcome_;
};

}  // namespace solstice::flow
