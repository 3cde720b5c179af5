// One step of a sweep: what a thread does with a vector of the row, in a scope for the vector and one inside for its
// lanes.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "families/rows/draft.h"
#include "families/rows/stores.h"

namespace solstice::families::rows {

// Binds the column indices to the step's vector, in the scope `depth`.
using BindVector = std::function<void(int depth)>;
// A loop around `text`, which is written for one vector or for one lane.
using LoopAround = std::function<std::string(const std::string& text)>;

class SweepStep {
 public:
  // The vector number `c` of the row, all its lanes.
  explicit SweepStep(Draft& draft);
  SweepStep(Draft& draft, BindVector bind_vector, LoopAround lanes);

  // `write` gets the sweep's stores and writes what is done with a vector.
  Result<std::string> text(const Sweep& sweep,
                           const std::function<Result<VectorText>(const std::vector<RowStore>&)>& write);

  // While lanes are written.
  const std::optional<SweepScope>& scope() const { return scope_; }

 private:
  Draft& draft_;
  BindVector bind_vector_;
  LoopAround lanes_;
  std::optional<SweepScope> scope_;
};

}  // namespace solstice::families::rows
