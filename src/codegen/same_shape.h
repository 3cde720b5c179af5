// Equality of expressions up to a renaming of indices.
#pragma once

#include "codegen/interner.h"

namespace solstice::codegen {

// Whether one of two expressions of `interner` becomes the other when indices, free and bound, are renamed one to one.
bool same_but_for_indices(const Interner& interner, const ir::ExprRef& a, const ir::ExprRef& b);

}  // namespace solstice::codegen
