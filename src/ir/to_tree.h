// Bound equations back to syntax, with functions expanded and views folded in: for messages and for rewrites,
// which change the bound form and print the result.
#pragma once

#include "ir/program.h"
#include "lang/tree.h"

namespace solstice::ir {

lang::ExprRef to_tree(const Program& program, const Equation& equation, const ExprRef& expression);

// Indices whose extent the text alone would not give get a range: as a number, or as the dims it was written with.
enum class Extents { kNumbers, kDims };
lang::Equation to_tree(const Program& program, const Equation& equation, Extents extents = Extents::kNumbers);

}  // namespace solstice::ir
