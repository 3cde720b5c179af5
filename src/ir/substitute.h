// Substitution of indices in expressions.
#pragma once

#include <map>

#include "ir/program.h"

namespace solstice::ir {

// `e` with indices, by id, replaced by expressions; what becomes constant is folded.
ExprRef substitute(const ExprRef& e, const std::map<int, ExprRef>& indices);

}  // namespace solstice::ir
