// Handover of a search between the expert and a language model, read from the tree's events and the run's record.
#pragma once

#include <string>

#include "base/json.h"
#include "flow/run/agent/agent_choice.h"
#include "search/tree.h"

namespace solstice::flow {

// The expert has had its trials: the language model has taken over.
bool handed_over(const search::Tree& tree);
// The event with which it was handed over; the number of events where it was not yet.
size_t handed_over_at(const search::Tree& tree);

// The lead of a run, as its record has it (RunRecord::options).
struct Lead {
  std::string by;          // "model" or "expert"; "": it does not say
  std::string agent;       // controller of the language model that took part last; "": none did
  size_t model_since = 0;  // event with which a model took over again from the expert; 0: none did
};
Lead lead_of(const Json& options);
// Lead::model_since of that run once `agent` leads it from event number `event` on, the expert alone where it is none.
size_t model_since(const Lead& before, const AgentChoice& agent, size_t event);
// RunRecord::options of a run that `agent` leads.
void set_agent(const AgentChoice& agent, size_t model_since, Json& options);
// The event since which the model's stops count: `since` (Lead::model_since), or with which it took over first.
size_t model_leads_since(const search::Tree& tree, size_t since);

// Of a run that goes on without its model: the event with which the expert took over again, whose stops the model's
// trials do not count for. 0 where no model took part.
size_t taken_back_at(const search::Tree& tree);

// Opens nodes for the proposer that leads now: `model`, or "", the expert alone. A model has moves where the expert, or
// another model, had none; where it said itself that nothing is left it is not asked again. It begins anew only where
// nothing is there to go on from, or where it always does (`from_problem`). The expert may have moves where a model
// gave up.
void open_nodes_again(search::Tree& tree, const std::string& model, bool from_problem = false);

}  // namespace solstice::flow
