// The loop over a thread's steps along its row.
#pragma once

#include <string>
#include <vector>

#include "families/reduction/reduction_text.h"
#include "families/rows/settings.h"

namespace solstice::families::rows {

struct LoopText {
  std::string head, tail;
};

// Step `k` takes the vector number `c`.
LoopText plain_loop(const Shape& shape, const Settings& settings);

// Long sums are taken in runs of about the root of their length, so that the roundings of a run meet a small sum. The
// loop then accumulates a run's rounding reductions under their names in a run (accumulate.h) and adds these up.
bool in_runs(const Shape& shape, const Settings& settings, const std::vector<Reduction>& reductions);
LoopText loop_in_runs(const Shape& shape, const Settings& settings, const std::vector<Reduction>& reductions);

}  // namespace solstice::families::rows
