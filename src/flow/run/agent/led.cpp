#include "flow/run/agent/led.h"

namespace solstice::flow {
namespace {

bool failed_on_the_device(const search::Node& node) {
  if (node.id == 0 || !node.failed() || !node.proposal.by_model()) return false;
  // Equations that are refuted have been told before it was a trial.
  if (node.measurement->record.at("meaning").as_string() == "refuted") return false;
  const TrialState state = node.measurement->state;
  return state == TrialState::kWrong || state == TrialState::kCrashed || state == TrialState::kHung;
}

// Repairs that have led to it: what it was made from failed as well.
int repairs_before(const search::Tree& tree, const search::Node& node) {
  int out = 0;
  for (int id = node.proposal.parent; failed_on_the_device(tree.node(id)); id = tree.node(id).proposal.parent) ++out;
  return out;
}

}  // namespace

Result<std::optional<search::Decision>> Led::decide(const search::Tree& tree) {
  using Decided = std::optional<search::Decision>;
  if (controller_.from) {
    const std::optional<int> node = controller_.from(tree);
    if (node) return tree.node(*node).open() ? Decided({.node = *node}) : Decided();
    return policy_.decide(tree);
  }
  for (const search::Node& node : tree.nodes()) {
    if (failed_on_the_device(node) && node.open() && node.children.empty() && repairs_before(tree, node) < debug_)
      return Decided({.node = node.id});
  }
  return policy_.decide(tree);
}

}  // namespace solstice::flow
