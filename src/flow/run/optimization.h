// A run of optimize() in three steps, so that the searches of several problems can take turns: preparation, the trials,
// one by one or all, and the end (verification, timing, drop-in, report). optimize() is these steps in a row. A search
// that took turns is closed instead, and its run comes to its end by optimize() with SearchOptions::searched, when
// nothing else lies on the GPU.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "flow/run/optimize_outcome.h"
#include "flow/run/state/engine.h"
#include "flow/run/state/options.h"
#include "record/progress.h"
#include "search/tree.h"

namespace solstice::flow {

enum class Parted;

class Optimization {
 public:
  // Everything before the first trial. Where that fails, or the problem is no search's, it is over: conclude() says
  // why. An error: it could not even begin, and the store knows nothing of it. `progress` and `engine` outlive it.
  static Result<std::unique_ptr<Optimization>> open(OptimizeOptions options, Progress& progress, Engine& engine);
  // A run that was not concluded is interrupted: the store keeps its trials, and it can be resumed.
  ~Optimization();

  bool ready() const;              // for its first trial
  const std::string& run() const;  // id in the store
  const search::Tree& tree() const;
  Seconds original() const;  // 0: not known
  Seconds bound() const;     // the practical one; 0: not known

  // The next trial comes in; or the reason why none does any more. conclude() tells errors; the search then stops as
  // `interrupted`.
  std::optional<search::Stop> step();
  // Searches to the end as one stage, without turns.
  void search();

  // Its end, once. Its memory on the GPU is free afterwards.
  Result<OptimizeOutcome> conclude();

 private:
  struct Parts;
  explicit Optimization(std::unique_ptr<Parts> parts);
  Result<OptimizeOutcome> finish();
  Parted try_parts();

  std::unique_ptr<Parts> parts_;
};

}  // namespace solstice::flow
