// An equation to its register program.
#pragma once

#include "ir/interpret/code.h"
#include "ir/program.h"

namespace solstice::ir {

// `with_branches`: instructions that choose are listed, so that the machine can tell which sides were taken.
Routine compile(const Program& program, const Equation& equation, bool with_branches = false);

}  // namespace solstice::ir
