#include "search/policy.h"

#include <algorithm>
#include <tuple>

namespace solstice::search {
const PolicySpec* find_policy(std::string_view name) {
  for (const PolicySpec* spec : all_policies()) {
    if (spec->name == name) return spec;
  }
  return nullptr;
}

std::vector<int> open_nodes(const Tree& tree) {
  std::vector<int> out;
  for (const Node& node : tree.nodes()) {
    if (node.open()) out.push_back(node.id);
  }
  return out;
}

std::vector<int> ranked(const Tree& tree, std::vector<int> nodes) {
  std::erase_if(nodes, [&](int id) { return !tree.node(id).usable(); });
  const auto place = [&](int id) {
    const Node& node = tree.node(id);
    return std::tuple(!tree.comparable(node), node.measurement->time.value, node.children.size(), -id);
  };
  std::sort(nodes.begin(), nodes.end(), [&](int a, int b) { return place(a) < place(b); });
  return nodes;
}

}  // namespace solstice::search
