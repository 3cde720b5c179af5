// A run's beginning, and its going on: a run that was interrupted or killed keeps its id, and its tree is what its events say.
#pragma once

#include "flow/session.h"

namespace solstice::flow {

// A run of the store for this session: a new one, or with `--resume` the one that is named, if it is of the same problem under the
// same options. Errors: bad_argument where it is not, or still goes on; not_found.
Status begin_run(Session& state);

// The tree of the run that goes on, else one that knows the original alone.
Status restore_tree(Session& state);

// An event of the search, into the store; `trial`: the one that it ends.
Status keep_event(Session& state, size_t number, const TrialRecord* trial);
// Those from number `told` on, which end no trial.
Status keep_events_since(Session& state, size_t told);

// Whether the expert has had its trials: the language model has taken over.
bool handed_over(const search::Tree& tree);
size_t handed_over_at(const search::Tree& tree);  // the event with which it was; as many as there are where it was not yet

// The language model has moves where the expert, or another model, had none; where it said itself that nothing is left it is not
// asked again. It begins anew only where nothing is there to go on from.
Status open_nodes_again(Session& state);

}  // namespace solstice::flow
