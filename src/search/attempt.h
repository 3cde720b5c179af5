// Attempts of several turns: what the turns before the candidate brought are events (`noted`), so that an attempt that
// was broken off goes on where it was.
#pragma once

#include <optional>
#include <vector>

#include "search/policy.h"
#include "search/tree.h"

namespace solstice::search {

// Turns of the attempt that is under way, in their order; none where the last attempt has ended. They point into the
// tree's events.
std::vector<const Proposal*> open_turns(const Tree& tree);

// The decision that an attempt under way goes on by, before a policy is asked for another; nothing where none is.
std::optional<Decision> open_decision(const Tree& tree);

// The turns before the candidate of a node, in their order; none where no language model made it.
std::vector<const Proposal*> turns_of(const Tree& tree, int node);

}  // namespace solstice::search
