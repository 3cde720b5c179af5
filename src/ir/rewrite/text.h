// A rewritten program as text: items that did not change stay as they were written, comments and dims' names with them.
#pragma once

#include "base/result.h"
#include "ir/program.h"
#include "lang/tree.h"

namespace solstice::ir {

// `before` is `tree` bound, `after` what rewrites made of it; an equation of `after` keeps the span of the one it came
// from, and its comment. Error not_yet: the program has kernels or calls definitions.
Result<lang::Program> rewritten_tree(const lang::Program& tree, const Program& before, const Program& after);

// The comment on the line of the equation: the importer writes the module and source line there. "" none.
std::string comment_of(const lang::Program& tree, const Equation& equation);

}  // namespace solstice::ir
