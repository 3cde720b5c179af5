// Order in which trials are verified in full.
#pragma once

#include <string>
#include <vector>

#include "search/tree.h"

namespace solstice::flow {

// The next group, fastest first: of the usable trials that are not in `refused` the fastest and those within 5 % of it,
// at most three. Trials of the equations and the arithmetic that a refused one has come last: a value family mostly
// tells of these, not of tiles. Behind all of these come trials that were only predicted where others were measured: a
// prediction says nothing of who is faster. None that takes longer than `most` (0: any), none after six were refused.
std::vector<int> next_finalists(const search::Tree& tree, const std::vector<int>& refused, Seconds most);

// Its equations and arithmetic are those of a trial in `refused`.
bool is_like_refused(const search::Tree& tree, int node, const std::vector<int>& refused);

// "; trial 1: why": the detail of the first trial that was not usable, the cost models' favourite of those. "": of
// none.
std::string first_refusal(const search::Tree& tree);

}  // namespace solstice::flow
