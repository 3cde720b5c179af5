// A candidate answers the problem's question and no other (docs/equivalence.md): its interface is the
// problem's, declaration for declaration, and it assumes and allows itself nothing.
#pragma once

#include <string>

#include "ir/program.h"

namespace solstice::ir {

// The difference, "" where there is none.
std::string interface_difference(const Program& problem, const Program& candidate);

// The candidate, which may also assume what its problem does, whether it says so or not.
Program with_assumptions(Program candidate, const Program& problem);

// The outputs by which two programs of one interface are compared. Opaque operations are taken apart: their results are
// inputs, the tensors that they take are outputs. Buffers that an `assume` describes whole are defined by it.
Program comparable(const Program& program);

}  // namespace solstice::ir
