// Budgets of a search: ends of the expert's part and of a language model's, by the run's options.
#pragma once

#include "flow/run/problem/trial_inputs.h"
#include "flow/run/state/run.h"
#include "search/search.h"

namespace solstice::flow {

// Times that a search is compared with.
struct Yardstick {
  Seconds bound{0};  // the practical one
  OriginalTime original{};
  bool measured = false;  // this run measures candidates
};

search::Budget expert_budget(const Run& run, const Yardstick& yardstick);
search::Budget agent_budget(const Run& run, const Yardstick& yardstick);

}  // namespace solstice::flow
