// Terms back to equations, for the interpreter and for people.
#pragma once

#include "ir/normal/form.h"

namespace solstice::ir::normal {

// The form's roots and definitions as equations of the same program: no kernels, opaque operations as they are. Reads
// that the conditions around them keep in range get `else 0`, since a term may stand outside its guard.
Program written(const Form& form);

}  // namespace solstice::ir::normal
