// STARK's adapted epsilon-greedy (arXiv 2510.16996): the best-scoring node, or with probability epsilon any leaf. The
// root is closed after `root_children` children; a node with more than `dead_children` children that all fail is a dead
// branch.
#include <algorithm>

#include "search/policy.h"

namespace solstice::search {
namespace {

bool closed(const Tree& tree, const Node& node, const Values& values) {
  const auto count = static_cast<double>(node.children.size());
  if (node.id == 0) return count >= values.find("root_children")->second;
  if (count <= values.find("dead_children")->second) return false;
  return std::all_of(node.children.begin(), node.children.end(), [&](int child) { return tree.node(child).failed(); });
}

std::optional<Decision> epsilon_greedy_decision(const Tree& tree, const Values& values, Random& random) {
  std::vector<int> open = open_nodes(tree), leaves;
  std::erase_if(open, [&](int id) { return closed(tree, tree.node(id), values); });
  std::copy_if(open.begin(), open.end(), std::back_inserter(leaves),
               [&](int id) { return tree.node(id).children.empty(); });
  const bool explore = random.chance(values.find("epsilon")->second);
  if (explore && !leaves.empty()) return Decision{leaves[random.below(leaves.size())]};
  const std::vector<int> best = ranked(tree, open);
  if (!best.empty()) return Decision{best.front()};
  if (!open.empty()) return Decision{open.front()};  // all scores are infinite
  return std::nullopt;
}

}  // namespace

extern const PolicySpec solstice_policies_epsilon_greedy;
const PolicySpec solstice_policies_epsilon_greedy = {
    .name = "epsilon-greedy",
    .about = "the fastest node, or with probability epsilon any leaf; root and dead branches are closed",
    .source = "STARK, arXiv 2510.16996",
    .parameters = {{"epsilon", 0.3, 0, 1, false, "share of decisions that take any leaf"},
                   {"root_children", 5, 1, 1000, true, "children after which the problem itself is closed"},
                   {"dead_children", 3, 1, 1000, true, "a node with more children, all failing, is closed"}},
    .decide = epsilon_greedy_decision,
};

}  // namespace solstice::search
