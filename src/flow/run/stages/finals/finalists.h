// The end of the search: the fastest trials are verified in full, timed in turn against the original, and the best of
// them wins.
#pragma once

#include <vector>

#include "flow/run/stages/finals/finalist.h"
#include "flow/run/stages/prepare/device.h"
#include "flow/run/stages/search/search.h"

namespace solstice::flow {

struct Chosen {
  std::vector<Finalist> finalists;   // fastest in the search first
  const Finalist* winner = nullptr;  // of them; null: none
};

// Nothing is chosen without a GPU. Where the full verification finds wrong results, the same with other arithmetic is
// tried, by `searching` (null: the search was elsewhere). The report says why nothing wins. Errors: judging itself
// failed.
Result<Chosen> choose_winner(Run& run, const Searched& searched, const Measurable& measurable, Searching* searching);

}  // namespace solstice::flow
