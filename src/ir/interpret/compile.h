// An equation to its register program.
#pragma once

#include "ir/interpret/code.h"
#include "ir/program.h"

namespace solstice::ir {

Routine compile(const Program& program, const Equation& equation);

}  // namespace solstice::ir
