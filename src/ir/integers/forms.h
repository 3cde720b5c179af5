// Arithmetic of forms and ranges that does not wrap (private to src/ir/integers).
#pragma once

#include <algorithm>

#include "ir/integers/linear.h"
#include "ir/program.h"

namespace solstice::ir {

__extension__ typedef __int128 Wide;  // products of bounds need more than 64 bits

inline int64_t saturate(Wide v) { return static_cast<int64_t>(std::clamp<Wide>(v, -kUnbounded, kUnbounded)); }
inline int64_t scaled(int64_t bound, int64_t factor) { return saturate(static_cast<Wide>(bound) * factor); }

inline Linear constant_form(int64_t value) { return Linear{value, {}}; }
inline Linear variable_form(int variable) { return Linear{0, {{variable, 1}}}; }
inline bool is_constant(const Linear& f) { return f.terms.empty() && !f.overflow; }

// Only a run of the program can tell the value.
bool depends_on_tensors(const ExprRef& expression);

}  // namespace solstice::ir
