// Literals that behave like a dim (W018).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "lang/tree.h"

namespace solstice::ir {

using DimValues = std::vector<std::pair<std::string, int64_t>>;

// A number that one of the two programs writes and the other does not, and that a dim whose value shrank gives: itself,
// plus or minus one, its inverse or root, or products with other dims. Such programs may agree at the real dims alone.
// The warning names the literal and the dim; its span is the candidate's, empty if the problem wrote it.
std::optional<Diagnostic> dim_like_literal(const lang::Program& problem, const lang::Program& candidate,
                                           const DimValues& real, const DimValues& shrunken);

}  // namespace solstice::ir
