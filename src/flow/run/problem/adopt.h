// A program of equations in the place of what a module was imported into: the module gives inputs, the float64 oracle
// and the original, the program gives the equations.
#pragma once

#include <string>

#include "flow/run/problem/written.h"
#include "ir/equivalence.h"

namespace solstice::flow {

// The equations of `module` in the names of `program`, as far as their interfaces correspond: inputs, outputs and dims
// by place, parameters and buffers by path (of one without a path, by name). `module` is bound.
lang::Program in_the_names_of(const ir::Program& program, const Problem& module);

// Gives `module` those names, for a candidate that has its own. Error program_invalid: a bug.
Status take_names(Problem& module, const ir::Program& program);

// Error bad_argument where an input, a parameter or an output of either has no counterpart. `file`: the program's.
Status check_interface(const Problem& module, const ir::Program& program, const std::string& file);
// Gives `module` the equations of `written`, whose interface is its own. Its tensors are then those of the program.
void take_equations(Problem& module, Written& written);

// "its equations are the module's: proved", or how far that is known.
std::string same_text(ir::Verdict verdict);

}  // namespace solstice::flow
