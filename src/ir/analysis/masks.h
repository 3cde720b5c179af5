// Masks of a program: parts of it that a condition on positions, or on truths and integers that are read, leaves out or
// replaces by 0 or an infinity. PyTorch computes what they hide and multiplies by the zeros.
#pragma once

#include "ir/program.h"

namespace solstice::ir {

// Some reduction of reals has a condition that no real value decides: what it leaves out is not computed at all.
bool leaves_terms_out(const Program& program);

// The same, or somewhere such a condition is a factor or chooses between a value and a literal 0 or infinity, or a
// buffer is known to hold a mask (`assume`). `select(x > 0, x, 0)` is none: the value itself decides.
bool has_masks(const Program& program);

}  // namespace solstice::ir
