// Infinities that a program writes (`else -inf`) are part of what it computes; those of an overflow are not.
#pragma once

#include <vector>

#include "ir/equivalence/compare.h"
#include "ir/equivalence/testing.h"
#include "ir/program.h"

namespace solstice::ir {

// The program with a large number in place of every infinity that is written.
Program with_finite_masks(const Program& program);

// Counts places with infinities as different: in results where the problem writes the infinity, in intermediates
// everywhere.
// `masked`: those places of the problem with finite masks, empty where they are not known.
void add_infinities(Compared& found, Tested tested, const TermsOf& masked);

}  // namespace solstice::ir
