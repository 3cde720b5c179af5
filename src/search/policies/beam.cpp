// Level by level: the `width` fastest of a level are each expanded `branch` times before the next level is looked at.
// When the deepest level has nothing more to expand, the beam starts again from the top with twice the branches.
#include <algorithm>

#include "search/policy.h"

namespace solstice::search {
namespace {

// The beam's nodes at `depth`, best first: those that work.
std::vector<int> beam_at(const Tree& tree, int depth, size_t width) {
  if (depth == 0) return {0};
  std::vector<int> level;
  for (const Node& node : tree.nodes()) {
    if (node.depth == depth) level.push_back(node.id);
  }
  std::vector<int> best = ranked(tree, level);
  if (best.size() > width) best.resize(width);
  return best;
}

bool in_flight_at(const Tree& tree, int depth) {
  return std::any_of(tree.nodes().begin(), tree.nodes().end(),
                     [&](const Node& n) { return n.depth == depth && n.in_flight; });
}

struct Pass {
  std::optional<Decision> decision;
  bool wait = false;  // the next level is chosen from when it is whole
};

// From the top down, the first node of a beam that has fewer than `branch` children.
Pass pass_down(const Tree& tree, size_t width, size_t branch) {
  for (int depth = 0;; ++depth) {
    if (depth > 0 && in_flight_at(tree, depth)) return {{}, true};
    const std::vector<int> beam = beam_at(tree, depth, width);
    if (beam.empty()) return {};
    for (const int id : beam) {
      if (tree.node(id).open() && tree.node(id).children.size() < branch) return {Decision{id}, false};
    }
  }
}

std::optional<Decision> beam_decision(const Tree& tree, const Values& values, Random&) {
  const auto width = static_cast<size_t>(values.find("width")->second);
  auto branch = static_cast<size_t>(values.find("branch")->second);
  const std::vector<int> open = open_nodes(tree);
  if (open.empty()) return std::nullopt;
  while (true) {
    const Pass pass = pass_down(tree, width, branch);
    if (pass.decision || pass.wait) return pass.decision;
    if (branch > tree.nodes().size()) return Decision{open.front()};  // what no beam reached
    branch *= 2;
  }
}

}  // namespace

extern const PolicySpec solstice_policies_beam;
const PolicySpec solstice_policies_beam = {
    .name = "beam",
    .about = "the fastest of each level, all expanded before the next level",
    .source = "beam search",
    .parameters = {{"width", 3, 1, 1000, true, "nodes of a level that are expanded"},
                   {"branch", 4, 1, 1000, true, "children of each"}},
    .decide = beam_decision,
};

}  // namespace solstice::search
