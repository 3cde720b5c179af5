#include "flow/run/agent/tuned.h"

#include <algorithm>

#include "propose/formulation/label.h"
#include "search/attempt.h"

namespace solstice::flow {
namespace {

// The number of the program of a model that it is, or that the expert made it of; nothing where it is of another
// origin.
std::optional<int> written_by_model(const search::Tree& tree, int node) {
  const auto by_model = [&](int id) { return id > 0 && id <= tree.trials() && tree.node(id).proposal.by_model(); };
  if (by_model(node)) return node;
  const std::optional<int> base = propose::trial_named(tree.node(node).proposal.equations);
  return base && by_model(*base) ? base : std::nullopt;
}

int trials_of(const search::Tree& tree, int base) {
  const std::string label = propose::as_trial(base);
  return static_cast<int>(std::count_if(tree.nodes().begin(), tree.nodes().end(),
                                        [&](const search::Node& node) { return node.proposal.equations == label; }));
}

}  // namespace

Result<std::optional<search::Proposal>> Tuned::propose(const search::Tree& tree, int node) {
  if (!search::open_turns(tree).empty()) return model_.propose(tree, node);  // it is in the middle of an attempt
  const std::optional<int> base = written_by_model(tree, node);
  if (base && tree.node(node).usable() && trials_of(tree, *base) < most_) {
    SOLSTICE_TRY(std::optional<search::Proposal> tuned, expert_.tune(tree, node));
    if (tuned) return tuned;
  }
  return model_.propose(tree, node);
}

}  // namespace solstice::flow
