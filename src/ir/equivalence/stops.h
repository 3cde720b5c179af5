// Does a candidate stop at run time only where its problem does? Proofs over values say nothing of that: a gather that
// was moved out of its `select` has the same value wherever it has one.
#pragma once

#include <set>
#include <string>

#include "ir/normal/terms/pool.h"
#include "ir/program.h"

namespace solstice::ir {

// A program, and the tensors that are known to be equal to the other's of the same name: inputs of what is compared.
struct StopSide {
  const Program& program;
  std::string prefix;  // of other tensors' names
  std::set<int> shared;
  std::set<int> settled;  // tensors whose equations are the other's: their stops are, too
};

// Proved: whenever an equation of the candidate stops, one of the problem does. Every stop is brought into normal form,
// as `any` over the points at which it is evaluated: under the conditions of each select, `and`, `or`, `else` and
// `where` around it.
bool stops_only_with(const StopSide& problem, const StopSide& candidate, const normal::Limits& limits);

}  // namespace solstice::ir
