#include "agents/window.h"

#include <algorithm>

#include "search/random.h"

namespace solstice::agents {

void add_some(Nodes& out, const Nodes& from, size_t most) {
  for (const search::Node* node : from) {
    if (most == 0) return;
    if (std::find(out.begin(), out.end(), node) != out.end()) continue;
    out.push_back(node);
    --most;
  }
}

Nodes children_of(const search::Tree& tree, int node) {
  Nodes out;
  for (const int child : tree.node(node).children) out.insert(out.begin(), &tree.node(child));
  return out;
}

Nodes siblings_of(const search::Tree& tree, int node) {
  if (node == 0) return {};
  Nodes out = children_of(tree, tree.node(node).proposal.parent);
  std::erase_if(out, [&](const search::Node* each) { return each->id == node; });
  return out;
}

Nodes leaders_of(const search::Tree& tree) {
  Nodes out;
  for (const search::Node& node : tree.nodes()) {
    if (node.id > 0 && node.usable()) out.push_back(&node);
  }
  const auto place = [&](const search::Node* node) {
    return std::pair(!tree.comparable(*node), node->measurement->time);
  };
  std::stable_sort(out.begin(), out.end(), [&](const auto* a, const auto* b) { return place(a) < place(b); });
  return out;
}

Nodes failures_of(const search::Tree& tree) {
  Nodes out;
  for (const search::Node& node : tree.nodes()) {
    if (node.failed()) out.insert(out.begin(), &node);
  }
  return out;
}

bool in_subtree(const search::Tree& tree, const search::Node& node, int of) {
  int id = node.id;
  while (id != of && id > 0) id = tree.node(id).proposal.parent;
  return id == of;
}

Nodes sampled(const search::Tree& tree, Nodes nodes, size_t most, uint64_t seed, std::string_view part) {
  search::Random random(seed, part, static_cast<uint64_t>(tree.trials()));
  while (nodes.size() > most) nodes.erase(nodes.begin() + static_cast<std::ptrdiff_t>(random.below(nodes.size())));
  return nodes;
}

}  // namespace solstice::agents
