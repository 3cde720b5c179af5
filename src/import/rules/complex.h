// Complex numbers as pairs of reals: a value has two terms over the same axes.
#pragma once

#include "import/call/call.h"

namespace solstice::importer {

// The node yields complex numbers.
bool yields_complex(const Call& call);

// Sum, difference, product or quotient ('+', '-', '*', '/') of `self` and `other`, one of which is complex.
Status complex_arithmetic(Call& call, char op);

// Numbers that are complex, or become so; of one precision.
Status as_complex(Call& call);

}  // namespace solstice::importer
