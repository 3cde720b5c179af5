// The reductions of a sweep inside one thread. Accumulators are arrays over the vector's lanes: independent chains, and
// a shorter sum each.
#pragma once

#include <string>
#include <vector>

#include "families/reduction/reduction_text.h"

namespace solstice::families::reduction {

// Declares the results, opens a block and starts the accumulators in it; "" without reductions. fold_lanes, or what
// follows it, ends the block.
std::string open_accumulators(const std::vector<Reduction>& reductions, int vector);
// Takes one lane's term in; `in_runs`: of the run that is being taken (loop.h).
std::string accumulate(const Reduction& reduction, size_t number, bool in_runs);
// Before the lanes of a vector, and after them: sums in doubles take a vector's lanes together, so that they cost
// one conversion a vector.
std::string open_vector(const std::vector<Reduction>& reductions);
std::string close_vector(const std::vector<Reduction>& reductions);
// A thread's lanes to its one result.
std::string fold_lanes(const Reduction& reduction, size_t number, int vector);

// Around a run: its sums start afresh, then join the accumulators.
std::string start_run(const std::vector<Reduction>& reductions, int vector);
std::string end_run(const std::vector<Reduction>& reductions, int vector);

}  // namespace solstice::families::reduction
