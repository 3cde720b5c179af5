// Memory across problems (search/memory.h): facts that a run leaves in the store when it ends.
#pragma once

#include <string>
#include <vector>

#include "machine/machine.h"
#include "search/tree.h"
#include "store/store.h"

namespace solstice::flow {

// Keeps the facts that a run's measurements tell; predicted times tell none. Returns the number of new facts. Errors:
// those of the store.
Result<int> keep_facts(store::Store& store, const std::string& run, const search::Tree& tree,
                       const machine::Machine& machine);
// The same for a machine by name. Errors: also machine::load_machine's.
Result<int> remember(store::Store& store, const std::string& run, const search::Tree& tree, const std::string& machine);

struct Rebuilt {
  int runs = 0;                              // that have trials
  int without_trials = 0;                    // that have none: they failed before
  int facts = 0;                             // that were not there before
  std::vector<std::string> unreadable = {};  // runs, and why
};

// Facts of all runs of the store that were measured on a GPU; what is there stays.
Result<Rebuilt> rebuild_facts(store::Store& store);

}  // namespace solstice::flow
