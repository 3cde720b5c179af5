// How a run begins, whatever becomes of it: its store, its report, its record, and the language model that takes part.
#pragma once

#include "flow/session.h"

namespace solstice::flow {

std::string name_of_problem(const OptimizeOptions& options);

// The store that is named; "": the user's.
Result<store::Store> store_of(const std::filesystem::path& named);
// Before anything is written elsewhere: without a source or a store there will be no run.
Status open_store(Session& state);
Status use_store(Session& state, store::Store store);  // one that is open
void begin_report(Session& state);
// For whoever asks the store later, and for the next search of this problem: machine, versions and bounds, as far as they are known.
Status describe_run(Session& state);
// A module given as an object has no text of its own: what was imported from it says which problem it is.
Status identify_object(Session& state);
// Before anything is measured; nothing where none is wanted.
Status open_agent(Session& state);
// What a reader of the run needs beside its events: the headline, and the ladder in seconds. Without an original that was timed
// there is none to tell.
Json summary_of(const Session& state);

}  // namespace solstice::flow
