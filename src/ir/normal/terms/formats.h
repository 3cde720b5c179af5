// Casts that round nothing: their operand has only values of the format.
#pragma once

#include "ir/normal/terms/pool.h"

namespace solstice::ir::normal {

// Is every value of `t` one of the float format? Params, buffers, inputs and draws hold values of their storage format;
// what the program computes is stored unrounded as far as the meaning goes (docs/language.md, section 8), unless it is
// a cast itself.
bool is_of_format(const Pool& pool, TermId t, DType format);

}  // namespace solstice::ir::normal
