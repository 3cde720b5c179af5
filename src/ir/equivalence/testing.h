// Tests of two programs of one interface without opaque operations: at single elements of the real shapes, and whole at
// dims that are small enough.
#pragma once

#include "base/clock.h"
#include "ir/equivalence.h"
#include "ir/program.h"

namespace solstice::ir {

inline constexpr size_t kMostCounterexamples = 4;

enum class Outcome {
  kEqual,
  kDifferent,  // `reason` and `counterexamples` say where
  kNotTested,  // too many operations, out of time, or no inputs on which the problem has a value
};

// If the problem's result is infinite or NaN, other than by an infinity that it writes, the candidate's may be
// anything; an intermediate may not: what reads it may hide that.
enum class Tested { kResults, kIntermediates };

// Adds the families, points and uncovered branches of the test to `out`.
Outcome test_points(const Program& problem, const Program& candidate, Tested tested, int64_t operations,
                    const Deadline& deadline, Equivalence& out);
Outcome test_whole(const Program& problem, const Program& candidate, Tested tested, const Deadline& deadline,
                   Equivalence& out);

// The indices of a row-major position.
std::vector<int64_t> index_at(int64_t position, const std::vector<int64_t>& shape);

// `name[3,4] is 1 in the problem and 2 in the candidate` of the first counterexample.
std::string difference_text(const Equivalence& found);

}  // namespace solstice::ir
