#include "flow/run/agent/handover.h"

#include <algorithm>

namespace solstice::flow {

size_t handed_over_at(const search::Tree& tree) {
  const std::vector<search::Event>& events = tree.events();
  const auto found = std::find_if(events.begin(), events.end(), [](const search::Event& event) {
    return event.kind == search::Event::Kind::kOpened || (event.proposal && event.proposal->by_model());
  });
  return static_cast<size_t>(found - events.begin());
}

bool handed_over(const search::Tree& tree) { return handed_over_at(tree) < tree.events().size(); }

Lead lead_of(const Json& options) {
  return {options.at("led_by").as_string(), options.at("agent").as_string(),
          static_cast<size_t>(options.at("model_since").as_int())};
}

size_t model_since(const Lead& before, const AgentChoice& agent, size_t event) {
  return agent.wanted() && before.by == "expert" ? event : before.model_since;
}

void set_agent(const AgentChoice& agent, size_t model_since, Json& options) {
  options.set("led_by", agent.wanted() ? "model" : "expert");
  if (!agent.wanted()) return;
  options.set("agent", agent.controller).set("agent_terms", to_json(agent.terms));
  if (model_since > 0) options.set("model_since", model_since);
}

size_t model_leads_since(const search::Tree& tree, size_t since) { return std::max(handed_over_at(tree), since); }

size_t taken_back_at(const search::Tree& tree) {
  using Kind = search::Event::Kind;
  const auto of_model = [&](const search::Event& event) {
    if (event.kind == Kind::kSpent || event.kind == Kind::kNoted) return event.proposal.has_value();
    if (event.kind == Kind::kProposed) return event.proposal->by_model();
    return event.kind == Kind::kMeasured && event.node > 0 && tree.node(event.node).proposal.by_model();
  };
  const std::vector<search::Event>& events = tree.events();
  return static_cast<size_t>(std::find_if(events.rbegin(), events.rend(), of_model).base() - events.begin());
}

void open_nodes_again(search::Tree& tree, const std::string& model, bool from_problem) {
  const int first = !model.empty() && tree.best() && !from_problem ? 1 : 0;
  for (int id = first; id <= tree.trials(); ++id) {
    const std::optional<search::Proposal>& given_up = tree.node(id).given_up;
    const bool has_moves = model.empty() ? given_up.has_value() : !given_up || given_up->origin != model;
    if (has_moves) tree.open(id);
  }
}

}  // namespace solstice::flow
