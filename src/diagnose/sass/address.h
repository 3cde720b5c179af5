// Integer arithmetic that makes addresses, by use: a register that finds memory (of loads, stores, atomics, bulk copies
// and matrix descriptors) is followed back, against the flow of control, through integer arithmetic and moves.
#pragma once

#include <vector>

#include "diagnose/sass/flow.h"

namespace solstice::diagnose::sass {

// Instructions of kind kInt become kAddress where what they write ends in an address.
void mark_addresses(Function& function, const Flow& flow);

}  // namespace solstice::diagnose::sass
