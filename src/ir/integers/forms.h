// Forms of constants and variables (private to src/ir/integers).
#pragma once

#include "ir/integers/linear.h"
#include "ir/program.h"

namespace solstice::ir {

inline Linear constant_form(int64_t value) { return Linear{value, {}}; }
inline Linear variable_form(int variable) { return Linear{0, {{variable, 1}}}; }
inline bool is_constant(const Linear& f) { return f.terms.empty() && !f.overflow; }

// Only a run of the program can tell the value.
bool depends_on_tensors(const ExprRef& expression);

}  // namespace solstice::ir
