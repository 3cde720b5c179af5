#include "search/tree.h"

namespace solstice::search {

const Node* Tree::add(Proposal proposal) {
  if (!seen_.insert(proposal.program).second) return nullptr;
  Node node;
  node.id = static_cast<int>(nodes_.size());
  node.proposal = std::move(proposal);
  nodes_.push_back(std::move(node));
  return &nodes_.back();
}

void Tree::complete(int id, Measurement measurement) {
  Node& node = nodes_[static_cast<size_t>(id)];
  if (!node.measurement) node.measurement = std::move(measurement);
}

const Node* Tree::best() const {
  const Node* best = nullptr;
  for (const Node& node : nodes_) {
    if (node.usable() && (!best || node.measurement->time < best->measurement->time)) best = &node;
  }
  return best;
}

}  // namespace solstice::search
