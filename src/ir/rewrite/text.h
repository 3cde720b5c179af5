// A rewritten program as text: items that did not change stay as they were written, comments and dims' names with them.
#pragma once

#include "base/result.h"
#include "ir/program.h"
#include "lang/tree.h"

namespace solstice::ir {

// `before` is `tree` bound, `after` what rewrites made of it; an equation of `after` keeps the span of the one it came
// from, and its comment. The program has no kernels and no calls.
Result<lang::Program> rewritten_tree(const lang::Program& tree, const Program& before, const Program& after);

// The program with the bodies of the definitions in place of their calls, every dim there as a number. `program` is
// `tree` bound. Error not_yet: a definition has an opaque operation.
Result<lang::Program> without_calls(const lang::Program& tree, Program program);

// Indices of the equation have different names, and none that of a tensor or dim.
Equation with_own_names(const Program& program, Equation equation);

// The comment on the line of the equation: the importer writes the module and source line there. "" none.
std::string comment_of(const lang::Program& tree, const Equation& equation);

}  // namespace solstice::ir
