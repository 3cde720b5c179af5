// Structural comparison and hashing of expressions.
#pragma once

#include <cstdint>

#include "ir/program.h"

namespace solstice::ir {

// The same operations on the same tensors and index ids, node by node.
bool same(const ExprRef& a, const ExprRef& b);

bool is_zero(const ExprRef& e);  // the literal

// Hash of an equation's right side in which bound indices count by their order of binding and free indices by
// their place on the left, so that renaming indices does not change it. Tensors count by name.
uint64_t structural_hash(const Program& program, const Equation& equation);

// Equal up to the names of indices (compare_hash first, then node by node).
bool same_up_to_names(const Program& a, const Equation& x, const Program& b, const Equation& y);

}  // namespace solstice::ir
