// The least and greatest value of an integer term, as far as the equations alone say it.
#pragma once

#include <optional>

#include "import/draft/draft.h"
#include "import/draft/value_bounds.h"

namespace solstice::importer {

// In the time of the equations that no earlier question looked at. None where the values of an input, parameter or
// buffer of integers, or of an integer made from a real, decide.
std::optional<ValueBounds> bounds_of(const Draft& draft, const TermRef& term);

// The integer format holds every value of the term, a real one made integral: the equations say so (a clamp, a
// remainder), or the formats of what it reads.
bool fits(const Draft& draft, const TermRef& term, DType format);

// A format of integers whose values are written as they wrap around: of 8 and 16 bits.
bool is_short_integer(DType format);

// The integer term as a short format stores it, which wraps it around; the term itself where it fits, or the format is
// another.
TermRef wrapped_to(const Draft& draft, const TermRef& term, DType format);

}  // namespace solstice::importer
