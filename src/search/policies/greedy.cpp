// Always the fastest: hill climbing that falls back on the next fastest where the first has no further moves.
#include "search/policy.h"

namespace solstice::search {
namespace {

std::optional<Decision> greedy_decision(const Tree& tree, const Values& values, Random&) {
  const Node& problem = tree.node(0);
  if (problem.open() && static_cast<double>(problem.children.size()) < values.find("starts")->second)
    return Decision{0};
  const std::vector<int> open = open_nodes(tree);
  std::vector<int> best = ranked(tree, open);
  std::erase(best, 0);
  if (!best.empty()) return Decision{best.front()};
  if (!open.empty()) return Decision{open.front()};
  return std::nullopt;
}

}  // namespace

extern const PolicySpec solstice_policies_greedy;
const PolicySpec solstice_policies_greedy = {
    .name = "greedy",
    .about = "the fastest trial that has moves left",
    .source = "hill climbing",
    .parameters = {{"starts", 2, 1, 1000, true, "children of the problem before anything is climbed from"}},
    .decide = greedy_decision,
};

}  // namespace solstice::search
