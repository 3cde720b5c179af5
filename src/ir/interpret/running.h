// Recurrences that carry one value along a row, as running sums, products and extrema do: y[b,t] = y[b,t-1 else 0] + e,
// where `e` does not read y. Its values are computed for a whole block of a row at once.
#pragma once

#include <optional>

#include "ir/interpret/code.h"
#include "ir/program.h"

namespace solstice::ir {

// The routine of `e` with what is carried; nothing where the recurrence is of another form.
std::optional<Routine> compile_running(const Program& program, const Equation& equation);

}  // namespace solstice::ir
