// Windows: the nodes of a tree that bear on a question.
#pragma once

#include <string_view>
#include <vector>

#include "search/tree.h"

namespace solstice::agents {

using Nodes = std::vector<const search::Node*>;

// Those of `from` that `out` has not, at most so many.
void add_some(Nodes& out, const Nodes& from, size_t most);

// The newest first.
Nodes children_of(const search::Tree& tree, int node);
// Other children of the node's parent; none of the problem. The newest first.
Nodes siblings_of(const search::Tree& tree, int node);
// The fastest first; without the problem.
Nodes leaders_of(const search::Tree& tree);
// The newest first.
Nodes failures_of(const search::Tree& tree);

// `node` is `of`, or was derived from it in any number of steps.
bool in_subtree(const search::Tree& tree, const search::Node& node, int of);

// At most so many of them, in their order, by a seed and what the sample is for; the same tree gives the same.
Nodes sampled(const search::Tree& tree, Nodes nodes, size_t most, uint64_t seed, std::string_view part);

}  // namespace solstice::agents
