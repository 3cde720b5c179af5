// How a run begins, whatever becomes of it: its store, its report, its record, and the language model that takes part.
#pragma once

#include "flow/run/state/run.h"

namespace solstice::flow {

std::string name_of_problem(const OptimizeOptions& options);

// The store that is named; "": the user's.
Result<store::Store> store_of(const std::filesystem::path& named);
// The same, for who asks for what is there. Error not_found where no store lies in the folder that is named: it is not
// made.
Result<store::Store> existing_store(const std::filesystem::path& named);
// RunRecord::problem_key of a file's text.
std::string problem_key(const std::string& source, const std::string& class_name);
// Before anything is written elsewhere: without a source or a store there will be no run.
Status open_store(Session& state);
Status use_store(Session& state, store::Store store);  // one that is open
void begin_report(Session& state);
// For whoever asks the store later, and for the next search of this problem: machine, versions and bounds, as far as
// they are known.
Status describe_run(Session& state);
// A module given as an object has no text of its own: what was imported from it says which problem it is. Error
// bad_argument where the run that goes on is of another.
Status identify_object(Session& state);
// The policy, and the language model where one is wanted: before the run begins, so that a mistake in their options
// leaves none behind.
Status open_choices(Session& state);
// Once the run has its id: what is asked and answered is kept from here on, and what it takes.
Status keep_transcript(Session& state);
// What a reader of the run needs beside its events: the headline, and the ladder in seconds. Without an original that
// was timed there is none to tell.
Json summary_of(const Session& state);
// The report's account of the language model, in the end: with that of the run before it went on. A model's costs stay
// known where the expert goes on alone.
void account_for_agent(Session& state);
// Of that the summary of a run that fails; null where no model took part.
Json account_of(const Session& state);

}  // namespace solstice::flow
