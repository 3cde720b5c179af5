// Memory across problems (search/memory.h): what a run takes from the store when it begins, and what it leaves there
// when it ends.
#pragma once

#include <memory>

#include "flow/run/state/run.h"

namespace solstice::flow {

// The facts that this run's search goes by: those that were there when it began, also where it goes on later. Null
// where memory is off, where there are none of this machine, or where times are predicted. That they cannot be read is
// a warning.
std::shared_ptr<const search::Memory> recalled(Session& state);

// Keeps what the measurements of a run say: nothing of predicted times. Returns how many facts are new. Errors: those
// of the store; machine::load_machine's.
Result<int> remember(store::Store& store, const std::string& run, const search::Tree& tree, const std::string& machine);
// The same at a run's end, where an error is a warning: the outcome stands without.
void remember(Session& state);

struct Rebuilt {
  int runs = 0;                              // that have trials
  int without_trials = 0;                    // that have none: they failed before
  int facts = 0;                             // that were not there before
  std::vector<std::string> unreadable = {};  // runs, and why
};

// Facts of all runs of the store that were measured on a GPU; what is there stays.
Result<Rebuilt> rebuild_facts(store::Store& store);

}  // namespace solstice::flow
