// Shared parts of the losses.
#pragma once

#include "import/call/call.h"

namespace solstice::importer {

std::vector<Loop> all_digits(const Axes& axes);

TermRef squared(const TermRef& x);
TermRef absolute(const TermRef& x);

// The p-norm of x along the row; inf, -inf, 0 (how many are not 0) included.
TermRef norm_of(double order, const std::vector<Loop>& row, const TermRef& x);

// The loss of each element over `axes`, reduced as the argument `reduction` says: 0 none, 1 mean, 2 sum.
Status yield_loss(Call& call, const Axes& axes, const TermRef& each);

}  // namespace solstice::importer
