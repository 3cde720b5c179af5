// mean, var and logsumexp in terms of sum and max.
#pragma once

#include "codegen/interner.h"
#include "ir/program.h"

namespace solstice::codegen {

// `root` is of `interner`; so is the result.
ir::ExprRef expand_reducers(Interner& interner, const ir::ExprRef& root);

}  // namespace solstice::codegen
