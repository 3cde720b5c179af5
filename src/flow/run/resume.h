// A run's beginning, and its going on: a run that was interrupted or killed keeps its id, and its tree is what its
// events say.
#pragma once

#include "flow/run/state/run.h"

namespace solstice::flow {

// What the run is led by, before anything is written for it: so that a mistake leaves nothing behind. With `--resume`
// the run that is named, if it is of the same problem under the same options. Errors: bad_argument where it is not;
// not_found; those of open_choices().
Status choose_run(Session& state);
// Its record in the store: a new one, or that of the run that goes on. Error bad_argument where that one still goes on,
// or has gone on since it was chosen: it is left as it is.
Status begin_run(Session& state);

// Once it is known what is here, and before the record of the run says so. Error bad_argument: its trials were measured
// on another machine, or on a GPU and there is none, or results of batches are out that nobody asked to predict.
Status check_place(const Session& state);

// The tree of the run that goes on, else one that knows the original alone.
Status restore_tree(Session& state);

// An event of the search, into the store; `trial`: the one that it ends.
Status keep_event(Session& state, size_t number, const TrialRecord* trial);
// Those from number `told` on, which end no trial.
Status keep_events_since(Session& state, size_t told);

// Whether the expert has had its trials: the language model has taken over.
bool handed_over(const search::Tree& tree);
size_t handed_over_at(
    const search::Tree& tree);  // the event with which it was; as many as there are where it was not yet
// The event since which the model's stops count: with which it took over first, or again from an expert that had gone
// on alone. `options`: RunRecord::options.
size_t model_leads_since(const search::Tree& tree, const Json& options);
// RunRecord::options of a run that `agent` leads from event number `event` on, the expert alone where it is none.
void set_agent(const AgentChoice& agent, size_t event, Json& options);

// For who proposes now: `model`, or "", the expert alone. A model has moves where the expert, or another model, had
// none; where it said itself that nothing is left it is not asked again. It begins anew only where nothing is there to
// go on from. The expert may have moves where a model gave up.
void open_nodes_again(search::Tree& tree, const std::string& model);
Status open_nodes_again(Session& state);

// Of a run that goes on without its model: the event with which the expert took over again, whose stops the model's
// trials do not count for. 0 where no model took part.
size_t taken_back_at(const search::Tree& tree);

}  // namespace solstice::flow
