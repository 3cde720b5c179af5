// Equations as statements, one after another; those of a recurrence in a loop over its steps.
#pragma once

#include "base/result.h"
#include "pytorch/body.h"

namespace solstice::pytorch {

Status write_equations(Body& body);

// The value of one equation that is its tensor as a whole, as an expression.
Result<std::string> whole_value(Body& body, const ir::Equation& equation);

}  // namespace solstice::pytorch
