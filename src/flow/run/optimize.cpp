#include "flow/run/optimize.h"

#include "flow/run/optimization.h"

namespace solstice::flow {

Result<OptimizeOutcome> optimize(const OptimizeOptions& options, Progress& progress) {
  Engine engine;
  return optimize(options, progress, engine);
}

Result<OptimizeOutcome> optimize(const OptimizeOptions& options, Progress& progress, Engine& engine) {
  SOLSTICE_TRY(const std::unique_ptr<Optimization> run, Optimization::open(options, progress, engine));
  run->search();
  return run->conclude();
}

}  // namespace solstice::flow
