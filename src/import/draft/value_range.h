// The least and greatest value of an integer term, as far as the equations alone say it.
#pragma once

#include <optional>

#include "import/draft/draft.h"
#include "import/draft/value_bounds.h"

namespace solstice::importer {

// In the time of the equations that no earlier question looked at. None where the values of an input, parameter or
// buffer of integers, or of an integer made from a real, decide.
std::optional<ValueBounds> bounds_of(const Draft& draft, const TermRef& term);

}  // namespace solstice::importer
