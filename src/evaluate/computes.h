// What a kernel computes, in a line, from its equations.
#pragma once

#include <set>
#include <string>

#include "ir/program.h"
#include "lang/tree.h"
#include "machine/machine.h"

namespace solstice::evaluate {

// Of a program's equations: those that are contractions, and those that a fusion of the whole runs as attention.
struct EquationKinds {
  std::set<int> contractions, attention;
};
EquationKinds kinds_of(const ir::Program& program, const machine::Machine& machine);

// "product 1024x8192x8192 + bias + gelu", "softmax over rows of 16384", "convolution 3x3, 8 to 64 channels". `tree` is
// the syntax tree of the program, where functions still have their names.
std::string computes(const ir::Program& program, const ir::Kernel& kernel, const lang::Program& tree,
                     const EquationKinds& kinds);

// "convolution", "attention", "recurrence", "ranking" or "product" where the kernel does one and is of no family for
// it, since there is none or it cannot take the kernel; else "".
std::string missing_family(const ir::Program& program, const ir::Kernel& kernel, const EquationKinds& kinds);

}  // namespace solstice::evaluate
