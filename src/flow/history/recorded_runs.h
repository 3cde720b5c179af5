// Runs of the store, as search/replay/recorded.h takes them.
#pragma once

#include <string>
#include <vector>

#include "search/replay/recorded.h"
#include "store/store.h"

namespace solstice::flow {

// A run as it was searched. `otherwise`: what speedups are over where it does not know the original's time; 0: its
// slowest trial. Errors: bad_argument where an event does not fit those before it.
Result<search::Record> search_of(const store::LoadedRun& loaded, Seconds otherwise = {});

struct RecordedRuns {
  std::vector<search::Record> records;  // the oldest first
  int without_search = 0;               // finished ones that keep no events, or no result: they are left out
};

// The runs that `names` lists (ids, prefixes of ids, "last"); without names the finished ones of `problem`, or all
// where that is "". Errors: those of Store::load_run(); bad_argument where a named run has no recorded search;
// not_found where there is none.
Result<RecordedRuns> recorded_runs(store::Store& store, const std::vector<std::string>& names,
                                   const std::string& problem);

}  // namespace solstice::flow
