#include "flow/bench/worker.h"

#include "flow/run/optimization.h"
#include "flow/run/optimize.h"

namespace solstice::flow {
namespace {

// With a Python process of its own, beside those of the other searches.
class EngineSearch : public BenchSearch {
 public:
  static Result<std::unique_ptr<EngineSearch>> open(const OptimizeOptions& options, Progress& progress,
                                                    const Engine& beside) {
    std::unique_ptr<EngineSearch> out(new EngineSearch(beside.sibling()));
    SOLSTICE_TRY(out->run_, Optimization::open(options, progress, *out->engine_));
    return out;
  }
  bool ready() const override { return run_->ready(); }
  const std::string& run() const override { return run_->run(); }
  const search::Tree& tree() const override { return run_->tree(); }
  Seconds original() const override { return run_->original(); }
  Seconds bound() const override { return run_->bound(); }
  std::optional<search::Stop> step() override { return run_->step(); }
  Result<OptimizeOutcome> conclude() override { return run_->conclude(); }
  const Engine& engine() const { return *engine_; }

 private:
  explicit EngineSearch(std::unique_ptr<Engine> engine) : engine_(std::move(engine)) {}
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<Optimization> run_;
};

class EngineWorker : public BenchWorker {
 public:
  void begin(const OptimizeOptions& options) override {
    start_opponents(engine_, options.module.file, options.module.class_name);
  }
  Result<OptimizeOutcome> optimize(const OptimizeOptions& options, Progress& progress) override {
    return flow::optimize(options, progress, engine_);
  }
  Result<std::unique_ptr<BenchSearch>> open(const OptimizeOptions& options, Progress& progress) override {
    SOLSTICE_TRY(std::unique_ptr<EngineSearch> search, EngineSearch::open(options, progress, engine_));
    if (search->ready()) engine_.share(search->engine());  // for the next ones
    return std::unique_ptr<BenchSearch>(std::move(search));
  }
  Result<OpponentsFound> compete(const OpponentsRequest& request, Progress& progress) override {
    return flow::compete(engine_, request, progress);
  }
  void end() override { engine_.release_problem(); }
  bool sound() const override { return engine_.sound(); }
  void renew() override { engine_.drop_judge(); }

 private:
  Engine engine_;
};

}  // namespace

std::unique_ptr<BenchWorker> engine_worker() { return std::make_unique<EngineWorker>(); }

}  // namespace solstice::flow
