// A problem of a bench with a shared budget, while its search takes turns with the others'.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "flow/bench/problems.h"
#include "flow/bench/worker.h"
#include "record/bench.h"
#include "search/turns.h"

namespace solstice::flow {

struct BenchSlot {
  const BenchProblem* problem = nullptr;
  size_t number = 0;                                    // among all problems, from 1
  std::unique_ptr<BenchSearch> search = nullptr;        // while it is open
  std::optional<Result<OptimizeOutcome>> outcome = {};  // of what has no search, or no more
  bool apart = false;                                   // it found no room beside the others
  bool cut = false;                                     // it may be ours in parts, which are searched after the others
  std::optional<BenchTurns> given_up = {};              // its turns until then, in an earlier bench
  search::Tree seen{Seconds(0)};                        // as far as the schedule was told
  size_t told = 0;                                      // events
  size_t place = 0;                                     // in the schedule
  search::Stop stop = search::Stop::kShared;
  std::optional<BenchTurns> turns = {};  // once its search is over
  Seconds took{0};
};

// Tells `turns` the trials of the problem's new events.
Status tell(BenchSlot& slot, search::Turns& turns);

// The reason that a trial among the events from number `first` on found no room on the GPU; none: all found it.
std::optional<std::string> lacking_room(const search::Tree& tree, size_t first);

// The share of the budget that a search used, and its result at the fixed split's `share`.
Result<BenchTurns> turns_of(const BenchSearch& search, const search::TotalBudget& share, search::Stop stop);

}  // namespace solstice::flow
